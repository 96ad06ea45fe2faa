"""What an index will hold: documents and their passages, in memory while it is written."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import islice
from typing import Literal, NamedTuple

from ras_flow.documents.source import SourceDocument
from ras_flow.documents.split import split_document
from ras_flow.errors import DocumentError, IndexCorruptError, InputError
from ras_flow.indexes.manifest import DOCUMENTS, REBUILD
from ras_flow.state.schema import Passage
from ras_flow.support.concurrency import in_order
from ras_flow.support.engine import IN_PROCESS, Engine

_READ_AT_ONCE = 64


@dataclass(frozen=True)
class IndexProgress:
    """How far a build or update is.

    Attributes:
        stage: ``"read"`` counts documents, ``"embed"`` passages, ``"link"`` shards whose vectors
            are indexed, ``"write"`` files.
        done: How many are done.
        total: How many there are; None if that is not known yet.
    """

    stage: Literal["read", "embed", "link", "write"]
    done: int
    total: int | None = None


OnProgress = Callable[[IndexProgress], None]
"""Told how far a build or update is."""


@dataclass(frozen=True)
class DocumentRecord:
    """A document of an index: what tells whether it changed, and its passages' ids.

    ``anchors`` are the URL fragments that lead to passages, by id.
    """

    content_hash: str
    passages: tuple[str, ...]
    anchors: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Contents:
    """What an index will hold: documents by source, passages by id, perhaps more than they name."""

    documents: dict[str, DocumentRecord] = field(default_factory=dict)
    passages: dict[str, Passage] = field(default_factory=dict)

    def ordered(self) -> dict[str, Passage]:
        """Return the passages in index order, each with the source of its first document.

        The order depends on the documents alone, so that an updated index equals one that was
        built from scratch.
        """
        ordered: dict[str, Passage] = {}
        for source in sorted(self.documents):
            record = self.documents[source]
            for key in record.passages:
                place = f"{source}#{record.anchors[key]}" if key in record.anchors else source
                ordered.setdefault(key, {**self.passages[key], "source": place})
        return ordered


async def add_documents(
    contents: Contents,
    documents: Iterable[SourceDocument],
    max_words: int,
    progress: OnProgress | None,
    engine: Engine = IN_PROCESS,
) -> set[str]:
    """Split documents that are new or changed into passages."""
    read, given = 0, set[str]()
    if progress:
        progress(IndexProgress("read", 0))

    async def split(some: _Some) -> list[_Split]:
        return await engine.do(_split, some.unknown, max_words)

    units = _unknown(contents.documents, documents, given)
    async with aclosing(in_order(split, units, engine.at_once)) as made:
        async for some, parts in made:
            for source, record, passages in parts:
                contents.documents[source] = record
                contents.passages.update((passage["id"], passage) for passage in passages)
            read += some.read
            if progress:
                progress(IndexProgress("read", read))
    return given


class _Some(NamedTuple):
    """Documents that were read together: how many, and those that are new or changed."""

    read: int
    unknown: list[SourceDocument]


class _Split(NamedTuple):
    source: str
    record: DocumentRecord
    passages: list[Passage]


def _unknown(
    known: Mapping[str, DocumentRecord], documents: Iterable[SourceDocument], seen: set[str]
) -> Iterator[_Some]:
    rest = iter(documents)
    while some := list(islice(rest, _READ_AT_ONCE)):
        unknown = []
        for document in some:
            if document.source in seen:
                raise InputError(
                    f"Two documents have the source {document.source!r}: give each its own."
                )
            seen.add(document.source)
            record = known.get(document.source)
            if not record or record.content_hash != document.content_hash:
                unknown.append(document)
        yield _Some(len(some), unknown)


async def _split(documents: Sequence[SourceDocument], max_words: int) -> list[_Split]:
    return await asyncio.to_thread(lambda: [_split_one(one, max_words) for one in documents])


def _split_one(document: SourceDocument, max_words: int) -> _Split:
    passages = split_document(document, max_words)
    if not passages:
        raise DocumentError(f"{document.source} has no text: leave it out.")
    keys = tuple(passage["id"] for passage in passages)
    start = len(document.source) + 1
    anchors = {one["id"]: place for one in passages if (place := one["source"][start:])}
    return _Split(document.source, DocumentRecord(document.content_hash, keys, anchors), passages)


def read_records(lines: bytes) -> dict[str, DocumentRecord]:
    """Parse an index's documents file."""
    try:
        records = [json.loads(line) for line in lines.splitlines()]
        return {
            record["source"]: DocumentRecord(
                record["hash"], tuple(record["passages"]), dict(record.get("anchors", {}))
            )
            for record in records
        }
    except (ValueError, KeyError, TypeError) as error:
        raise IndexCorruptError(f"{DOCUMENTS} is damaged ({error}). {REBUILD}") from error
