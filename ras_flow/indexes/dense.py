"""Eq. 3 with a sentence encoder: passages whose vectors are nearest to the query's."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ras_flow.errors import ConfigurationError, IndexMismatchError
from ras_flow.indexes.queries import check_queries
from ras_flow.indexes.vectors import VectorIndex
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.parts.records import ScoredPassage
from ras_flow.state.schema import Passage


class DenseRetriever:
    """Inner-product search by FAISS, on the GPU where FAISS sees one."""

    def __init__(
        self,
        passages: Sequence[Passage],
        vectors: VectorIndex,
        encoder: SentenceEncoder,
        *,
        identity: str,
    ) -> None:
        self.identity = identity
        self._passages = passages
        self._vectors = vectors.on_gpu()
        self._encoder = encoder

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        """Return at most k passages for each query, best first; equal scores in corpus order."""
        check_queries(queries, k)
        if not queries or not len(self._passages):
            return [[] for _ in queries]
        vectors = await encode_checked(self._encoder, queries)
        check_dimension(self._vectors, self._encoder)
        return await asyncio.to_thread(self._search, vectors, min(k, len(self._passages)))

    def _search(self, queries: npt.NDArray[np.float32], k: int) -> list[list[ScoredPassage]]:
        return [
            [ScoredPassage(self._passages[at], score) for score, at in hits]
            for hits in self._vectors.search(queries, k)
        ]


def check_dimension(vectors: VectorIndex, encoder: SentenceEncoder) -> None:
    """Refuse an encoder that is another one under the same name."""
    _, dimension = vectors.shape
    if dimension != encoder.dimension:
        raise IndexMismatchError(
            f"The index's vectors have dimension {dimension}, and the encoder "
            f"{encoder.identity!r} now has dimension {encoder.dimension}: give another encoder "
            "another identity, and build the index again with it."
        )


async def encode_checked(encoder: SentenceEncoder, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Encode texts and check what comes back, since an encoder may be the caller's own."""
    vectors = np.ascontiguousarray(await encoder.encode(texts), dtype=np.float32)
    expected = (len(texts), encoder.dimension)
    if vectors.shape != expected:
        raise ConfigurationError(
            f"The encoder {encoder.identity!r} returned vectors of shape {vectors.shape} for "
            f"{len(texts)} texts; {expected} was expected. Check its `dimension` and `encode`."
        )
    lengths = np.linalg.norm(vectors, axis=1)
    if not np.allclose(lengths, 1, atol=1e-2):
        raise ConfigurationError(
            f"The encoder {encoder.identity!r} returned a vector of length {np.min(lengths):.3g} "
            f"to {np.max(lengths):.3g}: make it return vectors normalised to length 1."
        )
    return vectors
