"""Files of triples: TSV, JSON lines, N-Triples, N-Quads and Turtle, each plain or compressed."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Iterator
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
    """Read the triples of files, in order.

    Args:
        paths: The files; the name's ending tells the format.
        faults: Takes what cannot be read.
        kb: Of JSON lines that name a ``kb``, read those of this one.

    Yields:
        The triples; a literal's id is its text in double quotes.

    Raises:
        DocumentError: A file cannot be read.
        MissingExtraError: RDF needs the extra ``kg``.
    """
    for number, path in enumerate(paths):
        kind = _kind(path)
        with _opened(path) as file:
            try:
                if kind in _RDF:
                    yield from _rdf(file, path, _RDF[kind], number, faults)
                elif kind == ".jsonl":
                    for place, row in _json_rows(file, path, faults):
                        if kb is None or row.get("kb") == kb:
                            yield from _stated(row, place, faults)
                else:
                    for place, fields in _fields(file, path, faults):
                        if len(fields) == 3:
                            yield from _checked(fields[0], fields[1], fields[2], place, faults)
                        else:
                            faults.add(
                                f"{place}: {len(fields)} fields: write subject, predicate and "
                                "object with a tab between."
                            )
            except (OSError, EOFError, zlib.error) as error:
                raise DocumentError(f"{path} cannot be read ({error}).") from error


def read_labels(paths: Iterable[Path], faults: Faults) -> Iterator[tuple[str, list[str]]]:
    """Read files of ids, names and aliases: TSV, or JSON lines of id, label and aliases.

    Raises:
        DocumentError: A file cannot be read.
    """
    for path in paths:
        kind = _kind(path)
        if kind in _RDF:
            raise DocumentError(f"{path}: name RDF with labels among the files of triples.")
        with _opened(path) as file:
            try:
                for place, key, names in _labels(file, path, kind, faults):
                    if key and names and all(names):
                        yield key, names
                    else:
                        faults.add(f"{place}: an empty name: write id, name and aliases.")
            except (OSError, EOFError, zlib.error) as error:
                raise DocumentError(f"{path} cannot be read ({error}).") from error


def _kind(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kind = next((suffix for suffix in reversed(suffixes) if suffix != ".gz"), "")
    if kind not in (".tsv", ".jsonl", *_RDF):
        known = ", ".join((".tsv", ".jsonl", *_RDF))
        raise DocumentError(f"{path} has none of the endings {known} (each also with .gz).")
    return kind


def _opened(path: Path) -> IO[bytes]:
    try:
        if path.suffix.lower() == ".gz":
            return cast("IO[bytes]", gzip.open(path, "rb"))
        return path.open("rb")
    except OSError as error:
        raise DocumentError(f"{path} cannot be read ({error.strerror}).") from error


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
        yield f"{path}:{number}", line.rstrip("\r\n").split("\t")


def _json_rows(file: IO[bytes], path: Path, faults: Faults) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, line in _lines(file, path, faults):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            faults.add(f"{path}:{number}: not JSON ({error}).")
            continue
        if isinstance(row, dict):
            yield f"{path}:{number}", row
        else:
            faults.add(f"{path}:{number}: not an object with a triple.")


def _stated(row: dict[str, Any], place: str, faults: Faults) -> Iterator[Row]:
    """Read the triple of a JSON line, or all of its ``triples``."""
    if "triples" in row and isinstance(row["triples"], list):
        stated = row["triples"]
    else:
        names = ("subject", "predicate", "object")
        stated = [row["triple"] if "triple" in row else [row.get(name) for name in names]]
    for triple in stated:
        match triple:
            case [str(subject), str(predicate), str(object)]:
                yield from _checked(scrub(subject), scrub(predicate), scrub(object), place, faults)
            case [str(subject), str(predicate), bool() | int() | float() as value]:
                text = f'"{json.dumps(value)}"'
                yield from _checked(scrub(subject), scrub(predicate), text, place, faults)
            case _:
                faults.add(
                    f"{place}: no triple: write `triple` as three texts, or subject, predicate "
                    "and object."
                )


def _checked(
    subject: str, predicate: str, object: str, place: str, faults: Faults
) -> Iterator[Row]:
    subject, predicate, object = subject.strip(), predicate.strip(), object.strip()
    if not (subject and predicate and object):
        faults.add(f"{place}: an empty name: write subject, predicate and object.")
    elif object[0] == '"' and (quoted := _QUOTED.fullmatch(object)):
        if quoted[1].strip():
            yield subject, predicate, f'"{quoted[1]}"', quoted[2] or ""
        else:
            faults.add(f"{place}: an empty literal.")
    else:
        yield subject, predicate, object, None


def _labels(
    file: IO[bytes], path: Path, kind: str, faults: Faults
) -> Iterator[tuple[str, str, list[str]]]:
    if kind == ".tsv":
        for place, fields in _fields(file, path, faults):
            yield place, fields[0].strip(), [name.strip() for name in fields[1:]]
        return
    for place, row in _json_rows(file, path, faults):
        aliases = row.get("aliases", [])
        names: list[Any] = [row.get("label"), *(aliases if isinstance(aliases, list) else [None])]
        texts = [scrub(name).strip() if isinstance(name, str) else "" for name in names]
        key = row.get("id")
        yield place, scrub(key).strip() if isinstance(key, str) else "", texts


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
        if isinstance(object, literal):
            value = scrub(object.value)
            if value.strip():
                yield text(subject), quad.predicate.value, f'"{value}"', object.language or ""
        elif isinstance(subject, quoted) or isinstance(object, quoted):
            faults.add(f"{path}: a statement about a statement, which ras-flow does not read.")
        else:
            yield text(subject), quad.predicate.value, text(object), None


def _quads(parser: Iterator[Any], path: Path, faults: Faults) -> Iterator[Any]:
    """Yield what the parser reads; after a fault it goes on with the next statement."""
    while True:
        try:
            quad = next(parser)
        except StopIteration:
            return
        except SyntaxError as error:
            faults.add(f"{path}:{error.lineno or 1}: {error.msg}.")
        else:
            yield quad
