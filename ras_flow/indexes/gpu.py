"""FAISS on a GPU, by the extra ``gpu``: used if it is installed and FAISS sees a GPU.

``CUDA_VISIBLE_DEVICES=`` (empty) hides the GPUs and keeps the search on the processor.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from ras_flow.errors import ConfigurationError
from ras_flow.indexes.ann import add_all
from ras_flow.support.extras import require

GPU_MOST = 2048
"""The most neighbours that FAISS finds on a GPU."""


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


def to_gpu(vectors: npt.NDArray[np.float32], ann: Any) -> GpuIndex | None:
    """Copy what searches a shard to the GPUs: its IVF-PQ, or its vectors; HNSW stays here."""
    faiss = require("faiss", extra="gpu")
    try:
        if ann is None:
            index = faiss.index_cpu_to_all_gpus(faiss.IndexFlatIP(vectors.shape[1]))
            add_all(index, vectors)
            return GpuIndex(index)
        if isinstance(ann, faiss.IndexIVF):
            return GpuIndex(faiss.index_cpu_to_all_gpus(ann))
        return None
    except RuntimeError as error:
        raise ConfigurationError(
            f"The vectors cannot be searched on the GPU ({error}). If they do not fit, build the "
            "index with --vectors ivfpq, or hide the GPU with CUDA_VISIBLE_DEVICES= (empty)."
        ) from error
