"""Files of triples: TSV, JSON lines, N-Triples, N-Quads and Turtle, each plain or compressed."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from ras_flow.errors import DocumentError
from ras_flow.formats.text import scrub
from ras_flow.support.extras import require

Row = tuple[str, str, str, str | None]
"""Subject, predicate and object, and a literal's language: None for what is not a literal."""

_QUOTED = re.compile(r'"(.*)"(?:@([\w-]+)|\^\^\S+)?', re.DOTALL)
"""A literal as N-Triples has it, which files of tab-separated values use too."""
_RDF = {".nt": "N_TRIPLES", ".nq": "N_QUADS", ".ttl": "TURTLE"}


class Faults:
    """What cannot be read: an error at once, or counted where it is to be skipped."""

    def __init__(self, *, skip: bool) -> None:
        self.skip = skip
        self.count = 0
        self.first = ""

    def add(self, fault: str) -> None:
        """Note a fault, which begins with its place."""
        if not self.skip:
            raise DocumentError(f"{fault} Or leave out what cannot be read, with --skip.")
        self.count += 1
        self.first = self.first or fault


def read_triples(paths: Iterable[Path], faults: Faults, kb: str | None = None) -> Iterator[Row]:
    """Read the triples of files; ``kb`` picks those of one graph among JSON lines.

    A literal's id is its text in double quotes.
    """
    for number, path in enumerate(paths):
        kind = _kind(path)
        with _opened(path) as file:
            if kind in _RDF:
                yield from _rdf(file, path, _RDF[kind], number, faults)
            elif kind == ".jsonl":
                for place, row in _json_rows(file, path, faults):
                    if kb is None or row.get("kb") == kb:
                        yield from _stated(row, place, faults)
            else:
                for place, fields in _fields(file, path, faults):
                    if len(fields) == 3:
                        yield from _checked(fields, place, faults)
                    else:
                        faults.add(
                            f"{place}: {len(fields)} fields: write subject, predicate and object "
                            "with a tab between."
                        )


def read_labels(paths: Iterable[Path], faults: Faults) -> Iterator[tuple[str, list[str]]]:
    """Read files of an id, a name and perhaps aliases in each line, with tabs between."""
    for path in paths:
        with _opened(path) as file:
            for place, (key, *names) in _fields(file, path, faults):
                if key and names and all(names):
                    yield key, names
                else:
                    faults.add(f"{place}: an empty name: write id, name and aliases.")


def _kind(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kind = next((suffix for suffix in reversed(suffixes) if suffix != ".gz"), "")
    if kind not in (".tsv", ".jsonl", *_RDF):
        known = ", ".join((".tsv", ".jsonl", *_RDF))
        raise DocumentError(
            f"Cannot read {path}: its name must end in {known} (each also with .gz)."
        )
    return kind


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    opened = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opened(path, "rb") as file:
            yield cast("IO[bytes]", file)
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise DocumentError(f"{path} cannot be read ({why}).") from error


def _lines(file: IO[bytes], path: Path, faults: Faults) -> Iterator[tuple[int, str]]:
    for number, raw in enumerate(file, start=1):
        try:
            line = raw.decode()
        except UnicodeDecodeError:
            faults.add(f"{path}:{number}: not UTF-8: convert the file.")
            continue
        if number == 1:
            line = line.removeprefix("\ufeff")
        if line.strip():
            yield number, scrub(line) if "\0" in line else line


def _fields(file: IO[bytes], path: Path, faults: Faults) -> Iterator[tuple[str, list[str]]]:
    for number, line in _lines(file, path, faults):
        yield f"{path}:{number}", [field.strip() for field in line.split("\t")]


def _json_rows(file: IO[bytes], path: Path, faults: Faults) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in _lines(file, path, faults):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            row = error
        if isinstance(row, dict):
            yield f"{path}:{number}", row
        else:
            why = f"not JSON ({row})" if isinstance(row, Exception) else "not an object"
            faults.add(f"{path}:{number}: {why}: write an object with a `triple`.")


def _stated(row: dict[str, Any], place: str, faults: Faults) -> Iterator[Row]:
    """Read the triple of a JSON line, or all of its ``triples``."""
    parts = [row.get(name) for name in ("subject", "predicate", "object")]
    stated = row.get("triples")
    for triple in stated if isinstance(stated, list) else [row.get("triple", parts)]:
        match triple:
            case [str(), str(), str()]:
                yield from _checked([scrub(part).strip() for part in triple], place, faults)
            case [str(), str(), bool() | int() | float() as value]:
                texts = [scrub(part).strip() for part in triple[:2]]
                yield from _checked([*texts, f'"{value}"'], place, faults)
            case _:
                faults.add(
                    f"{place}: no triple: write `triple` as three texts, or subject, predicate "
                    "and object."
                )


def _checked(parts: Sequence[str], place: str, faults: Faults) -> Iterator[Row]:
    subject, predicate, object = parts
    if not (subject and predicate and object):
        faults.add(f"{place}: an empty name: write subject, predicate and object.")
    elif object[0] == '"' and (quoted := _QUOTED.fullmatch(object)):
        if quoted[1].strip():
            yield subject, predicate, f'"{quoted[1]}"', quoted[2] or ""
        else:
            faults.add(f"{place}: an empty literal.")
    else:
        yield subject, predicate, object, None


def _rdf(file: IO[bytes], path: Path, form: str, number: int, faults: Faults) -> Iterator[Row]:
    pyoxigraph = require("pyoxigraph", extra="kg")
    blank, literal = pyoxigraph.BlankNode, pyoxigraph.Literal
    quoted = getattr(pyoxigraph, "Triple", ())

    def text(node: Any) -> str:
        # Two files may have blank nodes of the same name.
        return f"_:{number}.{node.value}" if isinstance(node, blank) else str(node.value)

    parser = pyoxigraph.parse(file, format=getattr(pyoxigraph.RdfFormat, form))
    for quad in _quads(parser, path, faults):
        subject, object = quad.subject, quad.object
        if isinstance(subject, quoted) or isinstance(object, quoted):
            faults.add(f"{path}: a statement about a statement, which ras-flow does not read.")
        elif isinstance(object, literal):
            value = scrub(object.value)
            if value.strip():
                yield text(subject), quad.predicate.value, f'"{value}"', object.language or ""
        else:
            yield text(subject), quad.predicate.value, text(object), None


def _quads(parser: Iterator[Any], path: Path, faults: Faults) -> Iterator[Any]:
    """Yield what the parser reads; after a fault it goes on with the next statement."""
    while True:
        try:
            yield next(parser)
        except StopIteration:
            return
        except SyntaxError as error:
            faults.add(f"{path}:{error.lineno or 1}: {error.msg}.")
