"""Models that live in an engine's workers instead of this process.

Each stands for a part that this process could open by the same name. Its identity, window and
token counts are known here; only its work is done there. So caches and runs are the same for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ras_flow.cluster.identity import same
from ras_flow.parts.chosen import Parts
from ras_flow.parts.protocols import Answerer, Extractor, LanguageModel, Planner, reading_of
from ras_flow.parts.records import (
    AnswerRequest,
    Extraction,
    Generation,
    Message,
    PlanRequest,
    Reply,
)
from ras_flow.settings.context import Context
from ras_flow.state.schema import Passage
from ras_flow.support.engine import IN_PROCESS, Engine


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
        return planner if self.planner is not None else _Planner(self.engine, context, planner)

    async def get_extractor(self, context: Context) -> Extractor:
        """Return the extractor."""
        extractor = await super().get_extractor(context)
        here = self.extractor is not None or self.keeps_text(context)
        return extractor if here else _Extractor(self.engine, context, extractor)

    async def get_answerer(self, context: Context) -> Answerer:
        """Return the answerer."""
        answerer = await super().get_answerer(context)
        return answerer if self.answerer is not None else _Answerer(self.engine, context, answerer)

    async def load_model(self, name: str, context: Context) -> LanguageModel:
        """Return a language model by its name."""
        return _Model(self.engine, name, context, await super().load_model(name, context))


class _Planner:
    def __init__(self, engine: Engine, context: Context, planner: Planner) -> None:
        self._engine, self._context = engine, context
        self.identity, self.takes_soft_tokens = planner.identity, planner.takes_soft_tokens
        self.reading = reading_of(planner)

    async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
        return await self._engine.do(_plan, self._context, self.identity, requests)


class _Extractor:
    def __init__(self, engine: Engine, context: Context, extractor: Extractor) -> None:
        self._engine, self._context = engine, context
        self.identity, self.batch_size = extractor.identity, extractor.batch_size

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        return await self._engine.do(_extract, self._context, self.identity, passages)


class _Answerer:
    def __init__(self, engine: Engine, context: Context, answerer: Answerer) -> None:
        self._engine, self._context = engine, context
        self.identity, self.takes_soft_tokens = answerer.identity, answerer.takes_soft_tokens
        self.reading = reading_of(answerer)

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
        return await self._engine.do(_answer, self._context, self.identity, requests)


class _Model:
    def __init__(self, engine: Engine, name: str, context: Context, model: LanguageModel) -> None:
        self._engine, self._name, self._context = engine, name, context
        self.identity, self.window, self.batch_size = model.identity, model.window, model.batch_size
        self.count_tokens = model.count_tokens

    async def generate(
        self,
        prompts: Sequence[Sequence[Message]],
        *,
        max_new_tokens: int,
        stop: Sequence[str] = (),
    ) -> list[Generation]:
        given = (self._name, self._context, self.identity, prompts, max_new_tokens, stop)
        return await self._engine.do(_generate, *given)


async def _plan(context: Context, identity: str, requests: Sequence[PlanRequest]) -> list[Reply]:
    planner = same(await Parts().get_planner(context), identity)
    return list(await planner.plan(requests))


async def _extract(
    context: Context, identity: str, passages: Sequence[Passage]
) -> list[Extraction]:
    extractor = same(await Parts().get_extractor(context), identity)
    return list(await extractor.extract(passages))


async def _answer(
    context: Context, identity: str, requests: Sequence[AnswerRequest]
) -> list[Reply]:
    answerer = same(await Parts().get_answerer(context), identity)
    return list(await answerer.answer(requests))


async def _generate(
    name: str,
    context: Context,
    identity: str,
    prompts: Sequence[Sequence[Message]],
    max_new_tokens: int,
    stop: Sequence[str],
) -> list[Generation]:
    model = same(await Parts().load_model(name, context), identity)
    return await model.generate(prompts, max_new_tokens=max_new_tokens, stop=stop)
