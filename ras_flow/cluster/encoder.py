"""A sentence encoder that works in an engine's workers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ras_flow.cluster.parts import same
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.support.engine import IN_PROCESS, Engine


def encoder_on(engine: Engine, name: str) -> SentenceEncoder:
    """Return a sentence encoder that works where an engine does."""
    encoder = LocalSentenceEncoder(name)
    return encoder if engine is IN_PROCESS else _Encoder(engine, encoder)


class _Encoder:
    def __init__(self, engine: Engine, encoder: LocalSentenceEncoder) -> None:
        self._engine, self._name = engine, encoder.name
        self.identity, self.dimension = encoder.identity, encoder.dimension

    async def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return await self._engine.do(_encode, self._name, self.identity, texts)


async def _encode(name: str, identity: str, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    # Not `encode`, which joins small batches: vectors depend on the batch in their last bits.
    encoder = same(_opened(name), identity)
    return await asyncio.to_thread(encoder.encode_sync, texts)


_opened = lru_cache(maxsize=8)(LocalSentenceEncoder)
