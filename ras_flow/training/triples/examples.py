"""Texts with triples: the form in which every source is split and trained on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ras_flow.datasets.reading import Row, read_rows
from ras_flow.formats.triples import Spo, parse_triples
from ras_flow.support.files import write_whole, writing


@dataclass(frozen=True)
class Example:
    """A text and its triples.

    Attributes:
        id: Names it among all files that are read together.
        title: What the text is about; empty where the source does not say.
        triples: Empty only if nothing is left after cleaning.
        complete: Whether the triples are all that the text states. Of a partial example neither
            the last closing parenthesis nor the end is learnt, since more should follow.
    """

    id: str
    source: str
    title: str
    text: str
    triples: tuple[Spo, ...]
    complete: bool = True


def read_examples(path: Path) -> Iterator[Example]:
    """Read a file of texts with triples, plain or gzipped.

    A row has ``text`` and ``triples`` (a list of [subject, predicate, object]), and may have
    ``title``, ``src``, ``id`` and ``complete`` (true or false). A row of WikiOFGraph has ``text``
    and ``triplet`` (or ``input`` and ``output``) instead, whose triples are one string in the
    format of :mod:`ras_flow.formats.triples`.
    """
    name = path.name.split(".")[0]
    for number, row in enumerate(read_rows(path), start=1):
        yield Example(
            id=row.text("id") if row.has("id") else f"{name}-{number}",
            source=row.text("src") if row.has("src") else name,
            title=row.text("title") if row.has("title") and row.value["title"] else "",
            text=row.first_text("text", "input"),
            triples=tuple(row.triples("triples") if row.has("triples") else _written(row)),
            complete=row.flag("complete") if row.has("complete") else True,
        )


def write_examples(path: Path, examples: Iterable[Example]) -> None:
    """Write a file of examples that :func:`read_examples` reads as they are."""
    lines = []
    for example in examples:
        row = {
            "id": example.id,
            "src": example.source,
            "title": example.title,
            "text": example.text,
            "triples": example.triples,
            "complete": example.complete,
        }
        lines.append(json.dumps(row) + "\n")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, "".join(lines))


def _written(row: Row) -> list[Spo]:
    """Read triples that are one string, as WikiOFGraph has them."""
    field = next((name for name in ("triplet", "output") if row.has(name)), "triples")
    if field == "triples":
        row.fail(field, 'it is missing; so are "triplet" and "output"')
    parsed = parse_triples(row.text(field))
    if parsed.dropped:
        row.fail(field, f"expected (S> subject| P> predicate| O> object), not {parsed.dropped[0]}")
    return parsed.triples
