"""Stand-ins for a sentence encoder: vectors that lie to each other as real ones do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
import numpy.typing as npt

SPREAD = 0.35
"""Length of the noise beside a mixture of length 1: the nearest other vector of a made one is
then about as far as that of a real one (both are printed)."""


class Made:
    """Stands for the sentence encoder: vectors of known texts, and made ones of all others."""

    identity = "made"

    def __init__(self, base: npt.NDArray[np.float32]) -> None:
        self.dimension = base.shape[1]
        self._base = base
        rng = np.random.default_rng(0)
        self._noise = unit(rng.standard_normal((8_192, self.dimension), dtype=np.float32))
        self.known: dict[str, npt.NDArray[np.float32]] = {}

    async def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return a vector a text, by the text's checksum alone."""
        keys = np.array([crc32(text.encode()) for text in texts], dtype=np.int64)
        share = (0.5 + (keys % 997) / 1994)[:, None].astype(np.float32)
        mixture = share * self._base[keys % len(self._base)]
        mixture += (1 - share) * self._base[(keys // 7919) % len(self._base)]
        vectors = unit(unit(mixture) + SPREAD * self._noise[(keys // 31) % len(self._noise)])
        for row, text in enumerate(texts):
            vectors[row] = self.known.get(text, vectors[row])
        return vectors


def unit(vectors: npt.NDArray) -> npt.NDArray[np.float32]:
    """Return vectors of length 1."""
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


class Asked:
    """Stands for the sentence encoder of questions given by number."""

    identity = "made"

    def __init__(self, questions: npt.NDArray[np.float32]) -> None:
        self.dimension = questions.shape[1]
        self._questions = questions

    async def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return the questions' vectors."""
        return self._questions[[int(text) for text in texts]]


def spread(work: Path) -> tuple[float, float]:
    """Return the mean cosine of the nearest other vector: of real ones, and of as many made."""
    import faiss

    base = np.load(work / "real.npy")
    both = base, asyncio.run(Made(base).encode([str(at) for at in range(len(base))]))
    means = [faiss.knn(some, some, 2, metric=faiss.METRIC_INNER_PRODUCT)[0][:, 1] for some in both]
    return float(np.mean(means[0])), float(np.mean(means[1]))
