"""Bringing a proposition index up to date with its passages' index."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ras_flow.errors import IndexCorruptError, IndexMismatchError, IndexMissingError
from ras_flow.indexes.contents import IndexProgress, OnProgress
from ras_flow.indexes.index import CorpusIndex
from ras_flow.indexes.manifest import DenseRecord, EncoderRecord, vector_files
from ras_flow.indexes.passages import write_lines
from ras_flow.indexes.propositions.index import (
    OFFSETS,
    PROPOSITIONS,
    READ,
    Proposition,
    PropositionIndex,
    PropositionManifest,
    proposition_folder,
)
from ras_flow.indexes.vector_writer import Embedded, write_vectors
from ras_flow.indexes.writer import in_thread, record_files, write_generation, write_lock
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.parts.records import Extraction
from ras_flow.state.kg import spo_of, to_new_triples
from ras_flow.state.schema import Extracted, Passage
from ras_flow.support.engine import IN_PROCESS, Engine
from ras_flow.triples.extraction import as_extracted, refine_all
from ras_flow.triples.ranking import proposition

_AT_ONCE = 512


class KeptExtractions(Protocol):
    """What was extracted of passages before, as :class:`ras_flow.triples.cache.TripleCache`."""

    async def get(self, passages: Sequence[str]) -> dict[str, Extraction]:
        """Return what is known of these passages, by id."""


@dataclass(frozen=True)
class Change:
    """What an update did.

    ``passages`` are in the index; nothing was extracted of ``failed`` ones. ``new`` propositions
    were embedded, ``gone`` ones dropped.
    """

    propositions: int
    passages: int
    failed: int
    new: int = 0
    gone: int = 0


async def update_propositions(
    corpus: CorpusIndex,
    extractor: str,
    kept: KeptExtractions,
    encoder: SentenceEncoder,
    progress: OnProgress | None = None,
    engine: Engine = IN_PROCESS,
) -> Change:
    """Make an index's propositions those of its passages that were extracted; embed new ones.

    The result is that of a new index. A damaged one, or one of another encoder, is made anew.
    """
    path = proposition_folder(corpus.path, extractor)
    ids = await asyncio.to_thread(corpus.ids)
    async with write_lock(path):
        old: PropositionIndex | None = None
        with suppress(IndexMissingError, IndexMismatchError, IndexCorruptError):
            opened = await asyncio.to_thread(PropositionIndex.open, path, encoder=encoder)
            # What is damaged would get a new checksum, and never be noticed.
            await asyncio.to_thread(opened.verify)
            same = await asyncio.to_thread(opened.read) == ids
            failed = opened.manifest.failed
            if same and (not failed or failed == await _count_failed(ids, kept)):
                return Change(len(opened), len(ids), failed)
            old = opened
        found, failed = await _collect(corpus.passages, kept, progress)
        known = set(map(_key, old.propositions)) if old else set()
        new, gone = len(found.keys() - known), len(known - found.keys())

        async def write(folder: Path) -> PropositionManifest:
            record = await write_vectors(
                folder,
                Embedded(found, proposition, lambda one: f"{one['subject']} {one['predicate']}"),
                encoder,
                DenseRecord(),
                (map(_key, old.propositions), old.vectors) if old and old.vectors else None,
                progress,
                engine,
            )
            await in_thread(_write_files, folder, list(found.values()), ids)
            names = [PROPOSITIONS, OFFSETS, READ, *vector_files(record)]
            return PropositionManifest(
                generation=folder.name,
                files=await asyncio.to_thread(record_files, folder, names),
                encoder=EncoderRecord(encoder.identity, encoder.dimension),
                dense=record,
                extractor=extractor,
                passages=len(ids),
                failed=failed,
                propositions=len(found),
            )

        await write_generation(path, write, progress)
    return Change(len(found), len(ids), failed, new, gone)


async def _count_failed(ids: Sequence[str], kept: KeptExtractions) -> int:
    windows = (ids[start : start + _AT_ONCE] for start in range(0, len(ids), _AT_ONCE))
    return len(ids) - sum([len(await kept.get(window)) for window in windows])


async def _collect(
    passages: Sequence[Passage], kept: KeptExtractions, progress: OnProgress | None
) -> tuple[dict[str, Proposition], int]:
    """Return propositions by what they say, and of how many passages nothing was extracted."""
    extracted: list[Extracted] = []
    for start in range(0, len(passages), _AT_ONCE):
        window = await asyncio.to_thread(lambda at: passages[at : at + _AT_ONCE], start)
        known = await kept.get([passage["id"] for passage in window])
        read = [passage for passage in window if passage["id"] in known]
        extracted += as_extracted(await asyncio.to_thread(refine_all, read, known))
        if progress:
            progress(IndexProgress("read", start + len(window), len(passages)))
    triples = await asyncio.to_thread(to_new_triples, extracted)
    found = (Proposition(id=id, **triple) for id, triple in triples.items())
    return {_key(one): one for one in found}, len(passages) - len(extracted)


def _key(one: Proposition) -> str:
    """Return what names a proposition's vector: its spelling, which another passage may change."""
    return "\0".join(spo_of(one))


def _write_files(folder: Path, propositions: Sequence[Proposition], read: Sequence[str]) -> None:
    write_lines(folder / PROPOSITIONS, folder / OFFSETS, propositions)
    (folder / READ).write_text("".join(f"{id}\n" for id in read), encoding="utf-8")
