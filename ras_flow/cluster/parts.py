"""Models that live in an engine's workers instead of this process.

Each stands for a part that this process could open by the same name. Its identity, window and
token counts are known here; only its work is done there. So caches and runs are the same for both.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ras_flow.errors import ClusterError
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.parts.chosen import Parts
from ras_flow.parts.protocols import Answerer, Extractor, LanguageModel, Planner, SentenceEncoder
from ras_flow.settings.context import Context
from ras_flow.support.engine import IN_PROCESS, Engine

P = TypeVar("P")

_WORK = frozenset({"plan", "extract", "answer", "generate"})
"""Methods of parts that are called in a worker."""


def parts_on(engine: Engine) -> Parts:
    """Return parts whose named models work where an engine does."""
    return Parts() if engine is IN_PROCESS else EngineParts(engine=engine)


@dataclass(frozen=True, kw_only=True)
class EngineParts(Parts):
    """Parts whose named models, except encoders, are opened in the workers of an engine."""

    engine: Engine = IN_PROCESS

    async def get_planner(self, context: Context) -> Planner:
        """Return the planner."""
        planner = await super().get_planner(context)
        return planner if self.planner else self._there(planner, "get_planner", context)

    async def get_extractor(self, context: Context) -> Extractor:
        """Return the extractor."""
        extractor = await super().get_extractor(context)
        here = self.extractor is not None or self.keeps_text(context)
        return extractor if here else self._there(extractor, "get_extractor", context)

    async def get_answerer(self, context: Context) -> Answerer:
        """Return the answerer."""
        answerer = await super().get_answerer(context)
        return answerer if self.answerer else self._there(answerer, "get_answerer", context)

    async def load_model(self, name: str, context: Context) -> LanguageModel:
        """Return a language model by its name."""
        model = await super().load_model(name, context)
        return cast(LanguageModel, self._there(model, "load_model", name, context))

    def _there(self, part: Any, opened_by: str, *named: object) -> Any:
        return _There(self.engine, part, opened_by, *named)


class _There:
    """A part whose work is done in a worker, which opens it by a method of :class:`Parts`."""

    def __init__(self, engine: Engine, part: Any, opened_by: str, *named: object) -> None:
        self._engine, self._part = engine, part
        self._where = opened_by, named, part.identity

    def __eq__(self, other: object) -> bool:
        """Equal its part, so that roles with the same model are known as such."""
        return self._part is getattr(other, "_part", other)

    def __hash__(self) -> int:
        return hash(self._part)

    def __getattr__(self, name: str) -> Any:
        own = getattr(self._part, name)
        if name not in _WORK:
            return own

        async def there(*given: Any, **options: Any) -> Any:
            return await self._engine.do(_work, *self._where, name, given, options)

        return there


async def _work(
    opened_by: str,
    named: Sequence[Any],
    identity: str,
    method: str,
    given: Sequence[Any],
    options: Mapping[str, Any],
) -> Any:
    part = same(await getattr(Parts(), opened_by)(*named), identity)
    return await getattr(part, method)(*given, **options)


def same(part: P, identity: str) -> P:
    """Check that a worker's part is the one that the caller has under the same name."""
    if (own := getattr(part, "identity", None)) != identity:
        raise ClusterError(
            f"A worker of the cluster has {own!r} where this process has {identity!r}: have the "
            "same models, packages and settings on every machine."
        )
    return part


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
