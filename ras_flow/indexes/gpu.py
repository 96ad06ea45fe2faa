"""FAISS on a GPU, by the extra ``gpu``: used where it is installed and a GPU is seen.

``CUDA_VISIBLE_DEVICES=`` (empty) hides the GPUs and keeps the search on the processor.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ras_flow.errors import ConfigurationError
from ras_flow.support.extras import require

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ras_flow.indexes.vectors import Shard

GPU_MOST = 2048
"""The most neighbours that FAISS finds on a GPU."""
_AT_ONCE = 65_536


class GpuIndex:
    """A FAISS index on GPUs, whose memory allows for one search at a time."""

    def __init__(self, index: Any) -> None:
        self._index = index
        self._one = threading.Lock()

    def search(self, queries: npt.NDArray[np.float32], k: int) -> Any:
        """Return inner products and positions, each of shape (queries, k)."""
        with self._one:
            return self._index.search(queries, min(k, GPU_MOST))


def has_gpu() -> bool:
    """Tell whether FAISS was built for GPUs and sees one."""
    return bool(require("faiss", extra="local").get_num_gpus())


def to_gpu(shard: Shard) -> Shard:
    """Copy what searches a shard to the GPUs: its vectors, or its IVF-PQ; HNSW stays here."""
    faiss = require("faiss", extra="gpu")
    try:
        if shard.ann is None:
            index = faiss.index_cpu_to_all_gpus(faiss.IndexFlatIP(shard.vectors.shape[1]))
            for start in range(0, len(shard.vectors), _AT_ONCE):
                index.add(shard.vectors[start : start + _AT_ONCE])
            return replace(shard, exact=GpuIndex(index))
        if isinstance(shard.ann, faiss.IndexIVF):
            return replace(shard, ann=GpuIndex(faiss.index_cpu_to_all_gpus(shard.ann)))
        return shard
    except RuntimeError as error:
        raise ConfigurationError(
            f"The vectors cannot be searched on the GPU ({error}). If they do not fit, build the "
            "index with --vectors ivfpq, or hide the GPU with CUDA_VISIBLE_DEVICES= (empty)."
        ) from error
