"""Which part plays which role: the object given, else the one that the Context names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from langgraph.config import get_config
from langgraph.runtime import Runtime

from ras_flow.errors import ConfigurationError
from ras_flow.indexes import LangChainRetriever
from ras_flow.llms.remote.chat import ChatLanguageModel
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.parts import named
from ras_flow.parts.prompted import KeptText, PromptedAnswerer, PromptedPlanner, make_extractor
from ras_flow.parts.protocols import (
    Answerer,
    Extractor,
    LanguageModel,
    Planner,
    Retriever,
    reading_of,
)
from ras_flow.parts.protocols import SentenceEncoder as Encoder
from ras_flow.parts.records import Reading
from ras_flow.settings.context import NO_EXTRACTOR, Context, named_settings
from ras_flow.settings.limits import check_names, check_server
from ras_flow.state.channels import RasState

T = TypeVar("T")

_ROLES = {
    "planner": named.planner_of,
    "extractor": named.extractor_of,
    "answerer": named.answerer_of,
}


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Where nodes get their parts: the objects given here, else those that the Context names.

    Attributes:
        planner: Replaces ``Context.planner``.
        retriever: Replaces ``Context.index`` and ``Context.retriever``.
        extractor: Replaces ``Context.extractor``.
        answerer: Replaces ``Context.answerer``.
        encoder: Replaces ``Context.encoder``, for the graph's attributes.
        defaults: The settings that a run's caller does not name.
    """

    planner: Planner | None = None
    retriever: Retriever | None = None
    extractor: Extractor | None = None
    answerer: Answerer | None = None
    encoder: Encoder | None = None
    defaults: Context = Context()

    @classmethod
    def of(
        cls,
        *,
        planner: object = None,
        retriever: object = None,
        extractor: object = None,
        answerer: object = None,
        encoder: object = None,
        defaults: Context | None = None,
    ) -> Parts:
        """Take parts of ours as they are, and wrap language models and LangChain's retrievers."""
        defaults = defaults or Context()
        # One for each object, whatever its roles: they share its slots.
        chats = {
            id(given): _chat(given, defaults)
            for given in (planner, extractor, answerer)
            if isinstance(given, BaseChatModel)
        }
        soft = ("identity", "takes_soft_tokens")
        return cls(
            planner=_part(planner, ("plan", *soft), PromptedPlanner, chats),
            retriever=_retriever_part(retriever),
            extractor=_part(
                extractor,
                ("extract", "identity", "batch_size"),
                partial(make_extractor, output=defaults.extractor_output),
                chats,
            ),
            answerer=_part(answerer, ("answer", *soft), PromptedAnswerer, chats),
            encoder=_encoder_part(encoder),
            defaults=defaults,
        )

    def context(self, state: RasState, runtime: Runtime[Context] | None = None) -> Context:
        """Return the settings of a run."""
        then = state.get("defaults")  # None before start, and where an earlier version kept none.
        own = self.defaults if then is None else Context.from_mapping(then)
        context = own.override(self.named(state, runtime))
        if chosen := state.get("models"):
            context = replace(context, **_chosen(chosen))
            for role in chosen:
                self._check_named(role)
        check_names(context, self.defaults)
        if context.base_url not in (None, self.defaults.base_url):
            deployed = runtime is not None and _is_deployed(runtime)
            check_server(context.base_url, deployed=deployed)
        return context

    def named(self, state: RasState, runtime: Runtime[Context] | None = None) -> Mapping[str, Any]:
        """Return the settings that a run's caller named."""
        given = runtime.context if runtime else None
        return named_settings(given, state.get("settings") or {})

    async def get_planner(self, context: Context) -> Planner:
        """Return the planner."""
        if self.planner is not None:
            return self.planner
        return await asyncio.to_thread(named.planner_of, context)

    async def get_extractor(self, context: Context) -> Extractor:
        """Return the extractor."""
        if self.extractor is not None:
            return self.extractor
        return await asyncio.to_thread(named.extractor_of, context)

    def keeps_text(self, context: Context) -> bool:
        """Tell whether passages stay text, to be read in place of triples."""
        if self.extractor is not None:
            return isinstance(self.extractor, KeptText)
        return context.extractor == NO_EXTRACTOR

    async def get_answerer(self, context: Context) -> Answerer:
        """Return the answerer."""
        if self.answerer is not None:
            return self.answerer
        return await asyncio.to_thread(named.answerer_of, context)

    async def get_reading(self, context: Context) -> Reading:
        """Return how much the answerer reads best; one that is named is not set up for that."""
        if self.answerer is not None:
            return reading_of(self.answerer)
        return await asyncio.to_thread(named.reading_of_answerer, context)

    async def get_model(self, name: str, context: Context) -> LanguageModel:
        """Return a language model without a role, for the baselines of an evaluation."""
        return await asyncio.to_thread(named.model_of, name, context)

    async def check_model(self, role: str, name: str, context: Context) -> None:
        """Find out whether a model can be used for a role."""
        self._check_named(role)
        only: dict[str, Any] = {role: name}
        changed = replace(context, **only)
        check_names(changed, self.defaults)
        await asyncio.to_thread(_ROLES[role], changed)

    def _check_named(self, role: str) -> None:
        if getattr(self, role) is not None:
            raise ConfigurationError(
                f"This graph was built with a part of its own as {role}, which no name replaces: "
                "leave its model as it is, or build the graph without it."
            )

    async def get_encoder(self, context: Context) -> Encoder:
        """Return the sentence encoder of the graph's attributes (eq. 5).

        It is the Context's, unless the Graph LLM that reads them was trained with another one.
        """
        if self.encoder is not None:
            return self.encoder
        models = [context.planner] if self.planner is None else []
        models += [context.answerer] if self.answerer is None else []
        return await asyncio.to_thread(named.attribute_encoder_of, context, models)

    async def check(self, context: Context, *, plans: bool, extracts: bool) -> None:
        """Find out whether a run's models can be used, before any of them is asked."""
        if plans:
            await self.get_planner(context)
        if extracts:
            await self.get_extractor(context)
        await self.get_answerer(context)
        if extracts and context.max_triples is not None and not self.keeps_text(context):
            encoder = await self.get_encoder(context)
            if isinstance(encoder, LocalSentenceEncoder):
                await asyncio.to_thread(encoder.check)

    def takes_soft_tokens(self, context: Context, *, plans: bool) -> bool:
        """Tell whether the encoded graph is needed for the rest of a run."""
        planner = (self.planner or named.planner_of(context)) if plans else None
        if planner is not None and planner.takes_soft_tokens:
            return True
        return (self.answerer or named.answerer_of(context)).takes_soft_tokens

    async def get_retriever(self, context: Context) -> Retriever:
        """Return the retriever; the first call opens the index."""
        if self.retriever is not None:
            return self.retriever
        return await named.open_retriever_of(context)


def _is_deployed(runtime: Runtime[Context]) -> bool:
    """Tell whether a server runs the graph, for callers who are strangers."""
    # aegra 0.6 names who asks by a mapping, of which LangGraph makes no server_info.
    return runtime.server_info is not None or "langgraph_auth_user" in get_config()["configurable"]


def _chosen(models: Any) -> dict[str, Any]:
    """Return models that were chosen for a role; an edit by hand could hold any other setting."""
    if not isinstance(models, Mapping) or not all(
        role in _ROLES and isinstance(name, str) for role, name in models.items()
    ):
        raise ConfigurationError(
            "The state's `models` were edited so that they cannot be used: give the names of "
            f"models for any of {', '.join(_ROLES)}, and nothing else."
        )
    return dict(models)


def _chat(given: BaseChatModel, defaults: Context) -> ChatLanguageModel:
    return ChatLanguageModel(
        given,
        timeout=defaults.model_timeout,
        max_retries=defaults.max_retries,
        max_concurrency=defaults.max_concurrency,
        window=defaults.model_window,
    )


def _part(
    given: Any,
    needed: Sequence[str],
    prompted: Callable[[LanguageModel], T],
    chats: Mapping[int, ChatLanguageModel],
) -> T | None:
    missing = _missing(given, needed)
    if given is None or not missing:
        return cast("T | None", given)
    if chat := chats.get(id(given)):
        return prompted(chat)
    if not _missing(given, ("generate", "count_tokens", "window", "identity", "batch_size")):
        return prompted(cast(LanguageModel, given))
    raise ConfigurationError(
        f"{type(given).__name__} cannot play this role, since it has no {missing}: pass a "
        "LangChain chat model itself, not what its `bind`, `with_retry` or `with_fallbacks` "
        "returns, or an object with all that the role needs (see ras_flow.parts)."
    )


def _retriever_part(given: Any) -> Retriever | None:
    missing = _missing(given, ("retrieve", "identity"))
    if given is None or not missing:
        return cast("Retriever | None", given)
    if isinstance(given, BaseRetriever | VectorStore):
        return LangChainRetriever(given)
    raise ConfigurationError(
        f"{type(given).__name__} is no retriever, since it has no {missing}: pass a LangChain "
        "BaseRetriever or VectorStore, or an object with all that a retriever needs (see "
        "ras_flow.parts.protocols)."
    )


def _encoder_part(given: Any) -> Encoder | None:
    missing = _missing(given, ("encode", "identity", "dimension"))
    if given is None or not missing:
        return cast("Encoder | None", given)
    raise ConfigurationError(
        f"{type(given).__name__} is no sentence encoder, since it has no {missing}: name a model "
        "of sentence-transformers in the Context, or pass an object with all that an encoder needs "
        "(see ras_flow.parts)."
    )


def _missing(given: Any, needed: Sequence[str]) -> str:
    # Of the class first: a property of the object, such as an identity, may take its weights.
    return ", ".join(
        f"`{name}`" for name in needed if not (hasattr(type(given), name) or hasattr(given, name))
    )
