"""The vectors of an index: shards on disk, searched in parallel, merged exactly."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ras_flow.indexes.ann import load_ann
from ras_flow.indexes.arrays import open_array
from ras_flow.indexes.gpu import GPU_MOST, GpuIndex, has_gpu, to_gpu
from ras_flow.indexes.manifest import DenseRecord, ann_name, vector_names
from ras_flow.support.concurrency import PerProcess
from ras_flow.support.extras import require

Hit = tuple[float, int]
"""A cosine and the position of a passage."""

_NEAR = 2e-5
"""Two ways of adding up a cosine in float32 differ by less."""


@dataclass(frozen=True)
class Shard:
    """A range of an index's vectors.

    Attributes:
        first: Position of its first vector in the index.
        vectors: Shape (vectors, dimension), L2-normalised; may be memory-mapped.
        ann: Finds candidates among them; None where all vectors are compared.
        exact: Compares all of them on a GPU; None for FAISS on the processor.
    """

    first: int
    vectors: npt.NDArray[np.float32]
    ann: Any = None
    exact: GpuIndex | None = None

    def search(self, queries: npt.NDArray[np.float32], k: int) -> list[list[Hit]]:
        """Return each query's k nearest, best first; equal cosines by position."""
        if not len(self.vectors):
            return [[] for _ in queries]
        if self.ann is None:
            return self._compare_all(queries, k)
        _, found = self.ann.search(queries, min(4 * k + 80, len(self.vectors)))
        return [
            self._ranked(query, row[row >= 0])[:k]
            for query, row in zip(queries, found, strict=True)
        ]

    def on_gpu(self) -> Shard:
        """Return the same shard, searched on the GPU if its kind of index can be."""
        index = to_gpu(self.vectors, self.ann)
        if self.ann is None:
            return replace(self, exact=index)
        return replace(self, ann=index or self.ann)

    def _compare_all(self, queries: npt.NDArray[np.float32], k: int) -> list[list[Hit]]:
        """Look deeper until what was left out is surely no better than the k-th found.

        Past a thousand vectors that are as near as the k-th, which of them are found is chance.
        """
        results: list[list[Hit]] = [[] for _ in queries]
        k = min(k, len(self.vectors))
        deepest = min(k + 1000, len(self.vectors))
        depth, left = min(2 * k + 8, deepest), list(range(len(queries)))
        while left:
            scores, found = self._nearest(queries[left], depth)
            unsure: list[int] = []
            for at, row, near in zip(left, found, scores, strict=True):
                ranked = self._ranked(queries[at], row)
                results[at] = ranked[:k]
                if depth < deepest and ranked[k - 1][0] <= float(near[-1]) + _NEAR:
                    unsure.append(at)
            left, depth = unsure, min(4 * depth, deepest)
        return results

    def _nearest(self, queries: npt.NDArray[np.float32], k: int) -> Any:
        if self.exact and k <= GPU_MOST:
            return self.exact.search(queries, k)
        faiss = require("faiss", extra="local")
        return faiss.knn(queries, self.vectors, k, metric=faiss.METRIC_INNER_PRODUCT)

    def _ranked(self, query: npt.NDArray[np.float32], rows: npt.NDArray[np.int64]) -> list[Hit]:
        """Order vectors by cosines that depend on the two vectors alone."""
        rows = np.sort(rows)
        scores = (self.vectors[rows].astype(np.float64) * query).sum(axis=1)
        best = np.argsort(-scores, kind="stable")
        return list(zip(scores[best].tolist(), (rows[best] + self.first).tolist(), strict=True))


class VectorIndex:
    """Nearest vectors over shards that are searched in parallel."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self.shards = list(shards)
        self._workers = PerProcess(self._open)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of vectors and their dimension."""
        [dimension] = {shard.vectors.shape[1] for shard in self.shards}
        return sum(len(shard.vectors) for shard in self.shards), dimension

    def search(self, queries: npt.NDArray[np.float32], k: int) -> list[list[Hit]]:
        """Return each query's k nearest, best first; equal cosines by position.

        The shards' cosines are exact, so that merging them gives the k best of all candidates:
        for flat shards, what one flat index of all vectors would give.
        """
        each = self._workers.current().map if len(self.shards) > 1 else map
        found = each(lambda shard: shard.search(queries, k), self.shards)
        return [
            sorted((hit for hits in row for hit in hits), key=lambda hit: (-hit[0], hit[1]))[:k]
            for row in zip(*found, strict=True)
        ]

    def flat(self) -> VectorIndex:
        """Return the same vectors for exact search."""
        return VectorIndex([Shard(shard.first, shard.vectors) for shard in self.shards])

    def take(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return the vectors at some positions, shape (positions, dimension)."""
        taken = np.empty((len(rows), self.shape[1]), dtype=np.float32)
        for shard in self.shards:
            here = (rows >= shard.first) & (rows < shard.first + len(shard.vectors))
            taken[here] = shard.vectors[rows[here] - shard.first]
        return taken

    def on_gpu(self) -> VectorIndex:
        """Return the same vectors, searched on the GPU if FAISS sees one."""
        return VectorIndex([shard.on_gpu() for shard in self.shards]) if has_gpu() else self

    def _open(self) -> ThreadPoolExecutor:
        cores = os.cpu_count() or 1
        at_once = min(len(self.shards), cores)
        return ThreadPoolExecutor(
            at_once, "ras-flow-shard", _limit_threads, (max(1, cores // at_once),)
        )


def load_vectors(folder: Path, record: DenseRecord, *, searched: bool) -> VectorIndex:
    """Open an index's vectors, memory-mapped."""
    shards: list[Shard] = []
    first = 0
    for name in vector_names(record):
        vectors = open_array(folder / name)
        if vectors.dtype != np.float32 or vectors.ndim != 2:
            raise ValueError(f"{name} holds no vectors")
        ann = None
        if searched and record.kind != "flat":
            ann = load_ann(folder / ann_name(name), record.kind, record.effort)
            if (ann.ntotal, ann.d) != vectors.shape:
                raise ValueError(f"{ann_name(name)} does not belong to {name}")
        shards.append(Shard(first, vectors, ann))
        first += len(vectors)
    return VectorIndex(shards)


def _limit_threads(threads: int) -> None:
    """Let a worker thread's searches use so many cores."""
    require("faiss", extra="local").omp_set_num_threads(threads)
