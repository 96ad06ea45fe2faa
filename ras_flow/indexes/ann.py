"""Approximate nearest neighbours by FAISS: which index for which size, and its files."""

from __future__ import annotations

from math import isqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from ras_flow.errors import InputError
from ras_flow.support.extras import require

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

VectorKind = Literal["flat", "hnsw", "ivfpq"]
"""How vectors are searched: all of them, through a graph of neighbours, or by compressed lists."""
VectorChoice = Literal["auto", "flat", "hnsw", "ivfpq"]

FLAT_UNTIL, HNSW_UNTIL = 100_000, 1_000_000
"""The most passages for which ``auto`` takes flat, and HNSW."""
SMALLEST = 1_000
"""Vectors of a shard below which every index is flat: exact, fast, and nothing to train on."""
EFFORTS: dict[VectorKind, tuple[int, ...]] = {
    "flat": (0,),
    "hnsw": (64, 128, 256, 512),
    "ivfpq": (32, 64, 128, 256),
}
"""What a build tries until the recall suffices: HNSW's efSearch, IVF's nprobe."""

_LINKS = 32
"""HNSW's M."""
_CANDIDATES = 200
"""HNSW's efConstruction."""
_SUBVECTOR = 8
"""Dimensions that one byte of a PQ code stands for."""
_ROUNDS = 10
"""Iterations of k-means."""
_PER_LIST, _PER_CODE = 40, 64
"""Vectors to train each centroid of IVF's lists and of PQ's codes on."""
_AT_ONCE = 65_536
"""Vectors that are added at once."""


def choose(choice: VectorChoice, passages: int, shards: int) -> VectorKind:
    """Return the kind of index for a corpus."""
    if choice not in get_args(VectorChoice):
        raise InputError(
            f"Unknown vector index {choice!r}: use {', '.join(get_args(VectorChoice))}."
        )
    if shards < 1:
        raise InputError(f"shards is {shards}: use 1 or more.")
    if passages // shards < SMALLEST:
        return "flat"
    if choice != "auto":
        return choice
    if passages <= FLAT_UNTIL:
        return "flat"
    return "hnsw" if passages <= HNSW_UNTIL else "ivfpq"


def build_ann(path: Path, vectors: npt.NDArray[np.float32], kind: VectorKind) -> None:
    """Index a shard's vectors; the same vectors give the same bytes.

    Both kinds keep short codes of the vectors, of one byte a dimension (HNSW) or one byte for
    eight (IVF-PQ): what they find is ranked again by the vectors themselves.
    """
    faiss = require("faiss", extra="local")
    threads = faiss.omp_get_max_threads()
    # HNSW's links depend on the order in which threads add: shards, not threads, work in parallel.
    faiss.omp_set_num_threads(1)
    try:
        index = _hnsw(faiss, vectors.shape[1]) if kind == "hnsw" else _ivfpq(faiss, *vectors.shape)
        index.train(_some(vectors, _training_size(vectors.shape[0])))
        add_all(index, vectors)
        faiss.write_index(index, str(path))
    except RuntimeError as error:
        raise OSError(f"FAISS could not write {path}: {error}") from error
    finally:
        faiss.omp_set_num_threads(threads)


def add_all(index: Any, vectors: npt.NDArray[np.float32]) -> None:
    """Add vectors to an index of FAISS, a part at a time."""
    for start in range(0, len(vectors), _AT_ONCE):
        index.add(vectors[start : start + _AT_ONCE])


def load_ann(path: Path, kind: VectorKind, effort: int) -> Any:
    """Open what :func:`build_ann` wrote, memory-mapped."""
    faiss = require("faiss", extra="local")
    try:
        index = faiss.read_index(
            str(path), faiss.IO_FLAG_MMAP_IFC if kind == "hnsw" else faiss.IO_FLAG_MMAP
        )
        set_effort(index, kind, effort)
    except (RuntimeError, AttributeError) as error:
        raise OSError(f"FAISS cannot read {path}: {error}") from error
    return index


def set_effort(index: Any, kind: VectorKind, effort: int) -> None:
    """Set how much of an index a search looks at."""
    if kind == "hnsw":
        index.hnsw.efSearch = effort
    else:
        index.nprobe = effort


def _hnsw(faiss: Any, dimension: int) -> Any:
    index = faiss.index_factory(dimension, f"HNSW{_LINKS},SQ8", faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = _CANDIDATES
    return index


def _ivfpq(faiss: Any, rows: int, dimension: int) -> Any:
    pieces = max(n for n in range(1, max(1, dimension // _SUBVECTOR) + 1) if dimension % n == 0)
    # "np": without ordering the codes for polysemous search, which is not used and takes minutes.
    specification = f"IVF{_lists(rows)},PQ{pieces}x8np"
    index = faiss.index_factory(dimension, specification, faiss.METRIC_INNER_PRODUCT)
    index.cp.niter = index.pq.cp.niter = _ROUNDS
    index.pq.cp.max_points_per_centroid = _PER_CODE
    # A small corpus has fewer than FAISS wants; what comes of it, the measured recall says.
    index.cp.min_points_per_centroid = index.pq.cp.min_points_per_centroid = 1
    return index


def _lists(rows: int) -> int:
    """Return the number of lists: four times the root, and enough vectors to train each."""
    return max(1, min(4 * isqrt(rows), rows // _PER_LIST))


def _training_size(rows: int) -> int:
    return max(_lists(rows) * _PER_LIST, 256 * _PER_CODE)


def _some(vectors: npt.NDArray[np.float32], most: int) -> npt.NDArray[np.float32]:
    """Return at most so many vectors, evenly spread."""
    import numpy as np  # noqa: PLC0415

    if len(vectors) <= most:
        return vectors
    rows = np.linspace(0, len(vectors) - 1, most).astype(np.int64)
    return np.ascontiguousarray(vectors[rows])
