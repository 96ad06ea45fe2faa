"""Nearest vectors by FAISS on the processor and on a GPU: seconds, and whether they agree.

    python benchmarks/gpu_search.py [--size 1000000] [--kinds flat ivfpq] [--queries 256]

The vectors are made, 384 numbers each, and so are the queries. Without a GPU that FAISS sees (the
extra ``gpu``) the processor alone is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

import numpy as np
from made_vectors import Made, unit

from ras_flow.indexes.ann import EFFORTS
from ras_flow.indexes.gpu import has_gpu
from ras_flow.indexes.manifest import DenseRecord
from ras_flow.indexes.vector_writer import build_shards
from ras_flow.indexes.vectors import VectorIndex, load_vectors

K, AT_ONCE = 5, 100_000


def made(size: int, queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Make vectors and queries that lie to each other as a corpus's do."""
    encoder = Made(unit(np.random.default_rng(1).standard_normal((2_000, 384))))
    vectors = np.empty((size, 384), np.float32)
    for start in range(0, size, AT_ONCE):
        texts = [str(at) for at in range(start, min(size, start + AT_ONCE))]
        vectors[start : start + len(texts)] = asyncio.run(encoder.encode(texts))
    return vectors, asyncio.run(encoder.encode([f"question {at}" for at in range(queries)]))


def measure(index: VectorIndex, queries: np.ndarray, exact: list[set[int]]) -> tuple[str, ...]:
    """Return milliseconds a query, alone and in a batch, and the share of the exact neighbours."""
    index.search(queries[:1], K)
    times = []
    for at in range(len(queries)):
        start = time.perf_counter()
        index.search(queries[at : at + 1], K)
        times.append(1000 * (time.perf_counter() - start))
    start = time.perf_counter()
    found = index.search(queries, K)
    batch = 1000 * (time.perf_counter() - start) / len(queries)
    exact[:] = exact or [{at for _, at in hits} for hits in found]
    same = sum(len(near & {at for _, at in hits}) for near, hits in zip(exact, found, strict=True))
    numbers = (median(times), quantiles(times, n=20)[-1], batch)
    return (*(f"{one:.3f}" for one in numbers), f"{same / (K * len(queries)):.3f}")


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1_000_000)
    parser.add_argument("--kinds", nargs="+", choices=list(EFFORTS), default=["flat", "ivfpq"])
    parser.add_argument("--queries", type=int, default=256)
    given = parser.parse_args()
    vectors, queries = made(given.size, given.queries)
    exact: list[set[int]] = []
    print(f"{given.size:,} vectors, {os.cpu_count()} cores, a GPU for FAISS: {has_gpu()}\n")
    print("| index | where | build or copy, s | median, ms | p95, ms | in a batch, ms | recall@5 |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |", flush=True)
    with TemporaryDirectory() as folder:
        np.save(Path(folder) / "vectors.npy", vectors)
        for kind in given.kinds:
            record = DenseRecord(kind, kind, 1, EFFORTS[kind][-1])
            start = time.perf_counter()
            if kind != "flat":
                asyncio.run(build_shards(Path(folder), record, None))
            index = load_vectors(Path(folder), record, searched=True)
            for where in ("processor", "GPU") if has_gpu() else ("processor",):
                index = index.on_gpu() if where == "GPU" else index
                seconds = f"{time.perf_counter() - start:.1f}"
                print("|", " | ".join((kind, where, seconds, *measure(index, queries, exact))), "|",
                      flush=True)  # fmt: skip
                start = time.perf_counter()


if __name__ == "__main__":
    main()
