"""Embeddings of texts, each computed once: hop i+1 encodes only what is new."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from ras_flow.parts.protocols import SentenceEncoder

if TYPE_CHECKING:
    import numpy.typing as npt

KEPT = 20_000
"""Texts whose vectors are kept, those used longest ago forgotten first; 31 MB at 384 dimensions."""


class EmbeddingCache:
    """Vectors by encoder and text, for any encoder."""

    def __init__(self, size: int = KEPT) -> None:
        self.size = size
        self._vectors: OrderedDict[tuple[str, int, str], npt.NDArray[np.float32]] = OrderedDict()
        # Several event loops may share a cache.
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._vectors)

    async def encode(
        self, encoder: SentenceEncoder, texts: Sequence[str]
    ) -> npt.NDArray[np.float32]:
        """Return the texts' vectors; the encoder sees those that are not known, each once.

        Returns:
            An array of shape (number of texts, dimension).
        """
        # In a thread: an encoder may read its weights to know its name and its dimension.
        identity, dimension = await asyncio.to_thread(lambda: (encoder.identity, encoder.dimension))
        found: dict[str, npt.NDArray[np.float32]] = {}
        with self._lock:
            for text in dict.fromkeys(texts):
                key = (identity, dimension, text)
                if key in self._vectors:
                    self._vectors.move_to_end(key)
                    found[text] = self._vectors[key]
        new = [text for text in dict.fromkeys(texts) if text not in found]
        if new:
            # Copies: a row of a matrix would keep all of it in memory.
            computed = [vector.copy() for vector in await encoder.encode(new)]
            found.update(zip(new, computed, strict=True))
            with self._lock:
                for text in new:
                    self._vectors[identity, dimension, text] = found[text]
                while len(self._vectors) > self.size:
                    self._vectors.popitem(last=False)
        rows = np.empty((len(texts), dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            rows[row] = found[text]
        return rows


EMBEDDINGS = EmbeddingCache()
"""The process's own, for all graphs."""
