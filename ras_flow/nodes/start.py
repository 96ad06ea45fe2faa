"""start: accept the question and clear what an earlier question left on the thread."""

from __future__ import annotations

from typing import Any, Literal

from langgraph.config import get_config
from langgraph.constants import CONFIG_KEY_CHECKPOINTER
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.events import StartEvent, passages_event
from ras_flow.formats.text import scrub
from ras_flow.llms.waiting import check_room
from ras_flow.parts.chosen import Parts
from ras_flow.settings.context import Context
from ras_flow.settings.limits import check_count, check_question, check_sizes
from ras_flow.state.channels import RasState
from ras_flow.state.schema import Document, Hop, Passage, make_passage

_GATHERED: dict[str, type[list[Any]] | type[dict[str, Any]]] = {
    "plans": list,
    "hops": list,
    "passages": dict,
    "extracted": list,
    "triples": dict,
    "usage": dict,
    "warnings": list,
}
"""What a run gathers, and what it is before."""


async def start(state: RasState, runtime: Runtime[Context], parts: Parts) -> dict[str, Any]:
    """Check the input; given documents become hop 0, the first context t0."""
    check_room()
    context = parts.context({**state, "models": {}, "defaults": None}, runtime)
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
    if context.pauses() and get_config()["configurable"].get(CONFIG_KEY_CHECKPOINTER) is None:
        raise ConfigurationError(
            "A run that pauses for a review must be kept meanwhile: compile the graph with a "
            "checkpointer and name a thread_id in the config."
        )
    plans = context.planning == "iterative" and context.max_hops > bool(passages)
    await parts.check(context, plans=plans, extracts=plans or bool(passages))
    if plans:
        await parts.get_retriever(context)
    runtime.stream_writer(StartEvent(type="start", question=question))
    update: dict[str, Any] = {
        name: Overwrite(empty()) for name, empty in _GATHERED.items() if state.get(name)
    }
    if state.get("stop_reason"):
        update |= {"answer": "", "citations": [], "stop_reason": None}
    if state.get("models"):
        update["models"] = {}
    if question != state["question"]:
        update["question"] = question
    # Apart, so that a next question of the thread has the graph's own settings of its time.
    settings = {name: getattr(context, name) for name in parts.named(state, runtime)}
    if settings != state.get("settings", {}):
        update["settings"] = settings
    if (defaults := parts.defaults.changed()) != state.get("defaults"):
        update["defaults"] = defaults
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
