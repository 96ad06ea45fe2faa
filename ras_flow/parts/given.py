"""Objects that a caller gives as parts: taken as they are, or wrapped to play their role."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import getattr_static
from typing import Any, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable
from langchain_core.vectorstores import VectorStore

from ras_flow.errors import ConfigurationError
from ras_flow.indexes import LangChainRetriever
from ras_flow.llms.remote.chat import ChatLanguageModel
from ras_flow.parts.prompted import PromptedHopReader
from ras_flow.parts.protocols import HopReader, LanguageModel, Retriever
from ras_flow.settings.context import Context

T = TypeVar("T")

LANGUAGE_MODEL = ("generate", "count_tokens", "window", "identity", "batch_size")
"""What a language model has."""

RETRIEVER = ("retrieve", "identity")
"""What a retriever has."""


def chat(given: BaseChatModel, defaults: Context) -> ChatLanguageModel:
    """Return a chat model with the limits of the settings."""
    return ChatLanguageModel(
        given,
        timeout=defaults.model_timeout,
        max_retries=defaults.max_retries,
        max_concurrency=defaults.max_concurrency,
        window=defaults.model_window,
    )


def part(
    given: Any,
    needed: Sequence[str],
    prompted: Callable[[LanguageModel], T],
    chats: Mapping[int, ChatLanguageModel],
) -> T | None:
    """Return what has all that a role needs, or a language model with the prompts of the role."""
    missing = _missing(given, needed)
    if given is None or not missing:
        return cast("T | None", given)
    if chat := chats.get(id(given)):
        return prompted(chat)
    if not _missing(given, LANGUAGE_MODEL):
        return prompted(cast(LanguageModel, given))
    _refuse_name(given)
    raise ConfigurationError(
        f"{type(given).__name__} cannot play this role, since it lacks {missing}: pass a "
        "LangChain chat model itself, not what its `bind`, `with_retry` or `with_fallbacks` "
        "returns, or an object with all that the role needs (see ras_flow.parts)."
    )


def hop_reader_part(
    planner: Any,
    extractor: Any,
    answerer: Any,
    chats: Mapping[int, ChatLanguageModel],
    defaults: Context,
) -> HopReader | None:
    """Return the reader of one language model that is given for every role."""
    if not (planner is extractor is answerer) or planner is None:
        return None
    model = chats.get(id(planner), planner)
    if _missing(model, LANGUAGE_MODEL):
        return None
    return PromptedHopReader(cast(LanguageModel, model), defaults.extractor_output, defaults.reads)


def retriever_part(given: Any) -> Retriever | None:
    """Return a retriever, or one over a retriever or vector store of LangChain."""
    if isinstance(given, BaseRetriever | VectorStore) and _missing(given, RETRIEVER):
        return LangChainRetriever(given)
    return cast("Retriever | None", own_part(given, RETRIEVER))


def own_part(given: Any, needed: Sequence[str]) -> Any:
    """Return an object that has all that its part needs; it is never wrapped."""
    if given is not None and (missing := _missing(given, needed)):
        _refuse_name(given)
        raise ConfigurationError(
            f"{type(given).__name__} cannot play this part, since it lacks {missing}: pass an "
            "object with all that it needs (see ras_flow.parts.protocols); as a retriever, also a "
            "BaseRetriever or VectorStore of LangChain."
        )
    return given


def _refuse_name(given: object) -> None:
    if isinstance(given, str):
        raise ConfigurationError(
            f"{given!r} is a name where an object is expected: put names into the settings, as in "
            '`defaults=Context(planner="openai:MODEL", index="demo")`.'
        )


def _missing(given: Any, needed: Sequence[str]) -> str:
    # The class first: to read a property of the object, such as an identity, may load its weights.
    # LangChain's wrappers look names up in what they wrap, and some fail at that.
    has = getattr_static if isinstance(given, Runnable) else getattr
    return ", ".join(
        f"`{name}`"
        for name in needed
        if not hasattr(type(given), name) and has(given, name, None) is None
    )
