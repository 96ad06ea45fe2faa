"""Every decision on where a run of ReG goes next: pure functions of state and settings."""

from __future__ import annotations

from typing import Literal

from ras_flow.reg.settings import RegContext
from ras_flow.reg.state import RegState


def after_link(state: RegState, settings: RegContext) -> Literal["retrieve", "answer"]:
    """Search around the question's entities; without any, there is nothing to search."""
    return "retrieve" if state.get("entities") else "answer"


def after_review_entities(
    state: RegState, settings: RegContext
) -> Literal["link", "retrieve", "answer"]:
    """Look up the entities that a person named, or search."""
    given = [one["mention"] for one in state.get("entities", ()) if one["by"] == "given"]
    named = {name.strip() for name in settings.entities}
    return "link" if named and named != set(given) else after_link(state, settings)


def after_merge(state: RegState, settings: RegContext) -> Literal["reorganise"]:
    """Rewrite the graph as chains."""
    return "reorganise"


def after_reorganise(state: RegState, settings: RegContext) -> Literal["answer"]:
    """Answer from them."""
    return "answer"


def after_answer(state: RegState, settings: RegContext) -> Literal["retrieve", "__end__"]:
    """Search for more where the facts led to no answer and another search is allowed."""
    return "__end__" if state.get("stop_reason") else "retrieve"


def stop_reason(state: RegState, settings: RegContext) -> str:
    """Return why the run answers."""
    return "retrieved" if state["hops"] else "no_entity"


def may_search(state: RegState, settings: RegContext) -> bool:
    """Tell whether another search is allowed."""
    return 0 < len(state["hops"]) < settings.kg_rounds
