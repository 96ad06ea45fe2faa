"""Writing an index's vectors: embedding, shards, and what searches them, with its recall."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ras_flow.indexes.ann import EFFORTS, VectorKind, build_ann, choose, set_effort
from ras_flow.indexes.arrays import open_array
from ras_flow.indexes.contents import IndexProgress, OnProgress
from ras_flow.indexes.dense import check_dimension, encode_checked
from ras_flow.indexes.manifest import DenseRecord, ann_name, vector_names
from ras_flow.indexes.vectors import VectorIndex, load_vectors
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.support.concurrency import in_order, to_its_end
from ras_flow.support.engine import IN_PROCESS, Engine

T = TypeVar("T")

Old = tuple[Iterable[str], VectorIndex]
"""Keys of what has vectors already, and these vectors."""

ENOUGH = 0.95
"""The recall at which a build stops to look for a better setting."""
SAMPLE = 200
RECALL_AT = 5
_EMBED_AT_ONCE = 512
_COPY_AT_ONCE = 16_384


@dataclass(frozen=True)
class Embedded(Generic[T]):
    """What is embedded, by key.

    Attributes:
        items: Passages or propositions. One with the same key has the same text.
        text: What is embedded of one.
        query: What one might be found by; the recall is measured on such texts.
    """

    items: Mapping[str, T]
    text: Callable[[T], str]
    query: Callable[[T], str]


async def write_vectors(
    folder: Path,
    embedded: Embedded[T],
    encoder: SentenceEncoder,
    asked: DenseRecord,
    old: Old | None,
    progress: OnProgress | None,
    engine: Engine,
) -> DenseRecord:
    """Write the vectors of texts and what searches them."""
    keys = list(embedded.items)
    if old:
        check_dimension(old[1], encoder)
    kind = choose(asked.asked, len(keys), asked.shards)
    record = DenseRecord(kind, asked.asked, asked.shards, EFFORTS[kind][0])
    files = await asyncio.to_thread(
        _VectorFiles, folder, vector_names(record), len(keys), encoder.dimension
    )
    try:
        await _embed(files, embedded, encoder, old, progress, engine)
    finally:
        await asyncio.to_thread(files.close)
    if kind == "flat":
        return record
    await build_shards(folder, record, progress, engine)
    rows = range(0, len(keys), max(1, len(keys) // SAMPLE))
    texts = [embedded.query(embedded.items[keys[row]]) for row in rows[:SAMPLE]]
    queries = await encode_checked(encoder, texts)
    index = await asyncio.to_thread(load_vectors, folder, record, searched=True)
    return await asyncio.to_thread(tune, index, record, queries)


async def _embed(
    files: _VectorFiles,
    embedded: Embedded[T],
    encoder: SentenceEncoder,
    old: Old | None,
    progress: OnProgress | None,
    engine: Engine,
) -> None:
    """Write each vector, encoding only new texts."""
    items = embedded.items
    new = dict(zip(items, range(len(items)), strict=True))
    if old:
        await asyncio.to_thread(_copy, files, new, old)
    keys = list(new)
    batches = (keys[at : at + _EMBED_AT_ONCE] for at in range(0, len(keys), _EMBED_AT_ONCE))
    done = 0
    if progress:
        progress(IndexProgress("embed", 0, len(keys)))

    async def embed(some: list[str]) -> npt.NDArray[np.float32]:
        return await encode_checked(encoder, [embedded.text(items[key]) for key in some])

    async with aclosing(in_order(embed, batches, engine.at_once)) as made:
        async for some, vectors in made:
            rows = np.array([new[key] for key in some], dtype=np.int64)
            await asyncio.to_thread(files.put, rows, vectors)
            done += len(some)
            if progress:
                progress(IndexProgress("embed", done, len(keys)))


def _copy(files: _VectorFiles, new: dict[str, int], old: Old) -> None:
    """Write the vectors that are known, and take their keys out of the new ones."""
    known = [
        (place, row) for row, key in enumerate(old[0]) if (place := new.pop(key, None)) is not None
    ]
    pairs = np.array(sorted(known), dtype=np.int64).reshape(-1, 2)
    for start in range(0, len(pairs), _COPY_AT_ONCE):
        places, rows = pairs[start : start + _COPY_AT_ONCE].T
        files.put(places, old[1].take(rows))


async def build_shards(
    folder: Path, record: DenseRecord, progress: OnProgress | None, engine: Engine = IN_PROCESS
) -> None:
    """Build what searches each shard, as many at a time as there are cores or workers."""
    here = engine is IN_PROCESS

    async def build(name: str) -> None:
        vectors = await asyncio.to_thread(open_array, folder / name)
        path = folder / ann_name(name)
        if here:  # Without a copy of the file in memory; a thread would outlive its caller.
            await to_its_end(asyncio.to_thread(build_ann, path, vectors, record.kind))
        else:
            content = await engine.do(_built, vectors, record.kind)
            await asyncio.to_thread(path.write_bytes, content)

    at_once = os.cpu_count() or 1 if here else engine.at_once
    if progress:
        progress(IndexProgress("link", 0, record.shards))
    async with aclosing(in_order(build, vector_names(record), at_once)) as built:
        done = 0
        async for _ in built:
            done += 1
            if progress:
                progress(IndexProgress("link", done, record.shards))


async def _built(vectors: npt.NDArray[np.float32], kind: VectorKind) -> bytes:
    """Return the file that :func:`build_ann` writes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "shard"
        await asyncio.to_thread(build_ann, path, vectors, kind)
        return await asyncio.to_thread(path.read_bytes)


def tune(index: VectorIndex, record: DenseRecord, queries: npt.NDArray[np.float32]) -> DenseRecord:
    """Find the least effort that suffices, and its recall."""
    nearest = [{row for _, row in hits} for hits in index.flat().search(queries, RECALL_AT)]
    for effort in EFFORTS[record.kind]:
        for shard in index.shards:
            set_effort(shard.ann, record.kind, effort)
        found = [{row for _, row in hits} for hits in index.search(queries, RECALL_AT)]
        recall = mean(len(a & b) / len(b) for a, b in zip(found, nearest, strict=True))
        if recall >= ENOUGH:
            break
    return replace(record, effort=effort, recall=round(recall, 4), sample=len(queries))


class _VectorFiles:
    """The .npy files of the shards, written row by row.

    They are written, not memory-mapped: a full disk raises an error on a write and kills the
    process on an access to a map.
    """

    def __init__(self, folder: Path, names: Sequence[str], rows: int, dimension: int) -> None:
        self._ends = [rows * (at + 1) // len(names) for at in range(len(names))]
        self._files = [(folder / name).open("wb") for name in names]
        self._row = 4 * dimension
        self._headers = []
        for file, first, end in zip(self._files, [0, *self._ends], self._ends, strict=False):
            header = {"descr": "<f4", "fortran_order": False, "shape": (end - first, dimension)}
            np.lib.format.write_array_header_1_0(file, header)
            self._headers.append(file.tell())

    def put(self, rows: npt.NDArray[np.int64], vectors: npt.NDArray[np.float32]) -> None:
        """Write vectors at ascending positions."""
        shard = np.searchsorted(self._ends, rows, side="right")
        breaks = np.flatnonzero((np.diff(rows) != 1) | (np.diff(shard) != 0)) + 1
        for run in np.split(np.arange(len(rows)), breaks):
            if len(run):
                at = int(shard[run[0]])
                first = self._ends[at - 1] if at else 0
                self._files[at].seek(self._headers[at] + (int(rows[run[0]]) - first) * self._row)
                self._files[at].write(vectors[run].astype("<f4").tobytes())

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()
