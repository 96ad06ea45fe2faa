"""start: accept the question and clear what an earlier question left on the thread."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, Literal

from langgraph.config import get_config
from langgraph.constants import CONFIG_KEY_CHECKPOINTER
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.events import StartEvent, passages_event
from ras_flow.formats.text import scrub
from ras_flow.parts.source import PartsSource
from ras_flow.settings.context import Context
from ras_flow.settings.limits import check_count, check_question, check_sizes
from ras_flow.state.channels import RunState
from ras_flow.state.schema import Document, Hop, Passage, make_passage

_FRESH = {
    "hops": Overwrite([]),
    "passages": Overwrite({}),
    "extracted": Overwrite([]),
    "triples": Overwrite({}),
    "usage": Overwrite({}),
    "warnings": Overwrite([]),
    "answer": "",
    "citations": [],
    "supported": False,
    "support": "",
    "stop_reason": None,
}
"""What a run has gathered before it begins."""


async def open_all(parts: PartsSource, context: Context) -> None:
    """Open the index and the knowledge graph that a run searches."""
    if parts.has_documents(context):
        await parts.get_retriever(context)
    if parts.has_knowledge(context):
        await open_graph(parts, context)


async def open_graph(parts: PartsSource, context: Context) -> None:
    """Open the knowledge graph and what scores its facts."""
    await parts.get_kg_retriever(context)


async def start(
    state: RunState,
    runtime: Runtime[Any],
    parts: PartsSource,
    *,
    points: Collection[str] = (),
    own: Mapping[str, Any] = MappingProxyType({}),
    open_search: Callable[[PartsSource, Any], Awaitable[object]] = open_all,
) -> dict[str, Any]:
    """Check the input and resolve the settings; given documents become hop 0, the first context t0.

    A system whose settings name no planner searches unless documents are given. ``points`` are
    those at which it can wait for a person. ``own`` are its own channels, as they are before a run
    begins. ``open_search`` opens what a run searches in, so that it fails before anything is asked.
    Where nobody says how many hops there may be, the answerer does, up to the system's own limit.
    """
    context = parts.resolve(state.get("settings") or {}, runtime)
    if "planner" in context.model_roles and "max_hops" not in context.given():
        most = (await parts.get_reading(context)).max_hops
        context = context.override({"max_hops": min(most, context.max_hops)})
    question = _text(state.get("question"), "question", "question")
    check_question(question)
    given = state.get("documents") or []
    if not isinstance(given, list | tuple):
        raise InputError(f"`documents` is a {type(given).__name__}: pass a list of documents.")
    check_count(len(given))
    passages = {passage["id"]: passage for passage in map(_passage, given)}
    check_sizes(passages)
    if context.planning == "static" and not passages:
        raise InputError("Static inference answers from given documents: pass `documents`.")
    if unknown := [point for point in context.pauses() if point not in points]:
        raise ConfigurationError(
            f"This system does not wait for a person at {', '.join(unknown)}: leave out the "
            f"setting pause_{unknown[0]}."
        )
    if context.pauses() and get_config()["configurable"].get(CONFIG_KEY_CHECKPOINTER) is None:
        raise ConfigurationError(
            "A run that pauses for a review must be kept meanwhile: compile the graph with a "
            "checkpointer and name a thread_id in the config."
        )
    searches = not passages
    if "planner" in context.model_roles:
        searches = context.planning == "iterative" and context.max_hops > bool(passages)
    needless = set() if searches else {"planner"} if passages else {"planner", "extractor"}
    await parts.check(context, [role for role in context.model_roles if role not in needless])
    if searches:
        await open_search(parts, context)
    runtime.stream_writer(StartEvent(type="start", question=question))
    fresh = {**_FRESH, **own}
    update: dict[str, Any] = {
        name: value
        for name, value in fresh.items()
        if state.get(name) or (value is None and state.get(name) is not None)
    }
    if question != state["question"]:
        update["question"] = question
    if (settings := context.changed()) != state.get("context"):
        update["context"] = settings
    if passages:
        scores = [1.0] * len(passages)
        hop = Hop(index=0, subquery=question, passages=list(passages), scores=scores)
        runtime.stream_writer(passages_event(hop, passages))
        update |= {"hops": Overwrite([hop]), "passages": Overwrite(passages)}
    return update


def _text(value: object, name: str, key: str) -> str:
    if not isinstance(value, str | None):
        raise InputError(f"The {name} is a {type(value).__name__}: pass a text.")
    if value is None or not value.strip():
        raise InputError(f"The {name} is empty: give it some text, as `{key}`.")
    return scrub(value).strip()


def _passage(document: Document) -> Passage:
    if not isinstance(document, dict):
        raise InputError(
            f"A document is a {type(document).__name__}: pass objects with a `text` and, where "
            "there are any, a `title` and a `source`."
        )
    text = _text(document.get("text"), "text of a document", "text")
    passage = make_passage(_label(document, "title"), text)
    if source := _label(document, "source"):
        passage["source"] = source
    return passage


def _label(document: Document, key: Literal["title", "source"]) -> str:
    value = document.get(key) or ""
    if not isinstance(value, str):
        raise InputError(f"The {key} of a document is a {type(value).__name__}: pass a text.")
    return scrub(value).strip()
