"""Every decision on where a run of T²RAG goes next: pure functions of state and settings."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ras_flow.routing import fingerprint, over_budget
from ras_flow.t2rag.board import survey
from ras_flow.t2rag.formats.resolution import parse_resolution
from ras_flow.t2rag.settings import T2Context
from ras_flow.t2rag.state import T2State

ATTEMPTS = 2
"""How often a decomposition is asked for before the run goes on without it."""

DECOMPOSE_EDGES = {"clues": "retrieve", "not usable": "decompose", "limit": "answer"}
"""Where each decomposition leads."""


class Decision(NamedTuple):
    """Where to go; with ``answer`` also why the search is over."""

    step: Literal["decompose", "retrieve", "answer"]
    stop_reason: str = ""


def decide(state: T2State, settings: T2Context) -> Decision:
    """Decide on the next step from what the state holds."""
    rounds, plans = len(state["rounds"]), state["plans"]
    given = len(state["hops"]) > rounds  # Documents that are still to be read.
    if plans and not state["clues"] and plans[-1]["label"] is None and len(plans) < ATTEMPTS:
        return Decision("decompose")
    if not plans and not state["clues"] and (given or settings.max_hops):
        return Decision("decompose")
    if given:
        return Decision("retrieve")
    if settings.planning == "static":
        return Decision("answer", "static")
    if state["rounds"] and state["rounds"][-1].get("error"):
        return Decision("answer", "error")
    board = survey(state, settings)
    if board.clues and not board.open:
        return Decision("answer", "sufficient")
    if rounds >= settings.max_hops:
        return Decision("answer", "max_hops")
    if over_budget(state, settings):
        return Decision("answer", "budget")
    # Nothing is left to search for: no clue, nor the question itself.
    if not board.next and any(one.get("fallback") for one in state["rounds"]):
        return Decision("answer", "no_progress")
    return Decision("retrieve")


def after_start(state: T2State, settings: T2Context) -> Literal["decompose", "answer"]:
    """Decompose the question, unless no round is allowed."""
    return "answer" if decide(state, settings).step == "answer" else "decompose"


def after_decompose(state: T2State, settings: T2Context) -> str:
    """Search with the clues; ask once more for clues that cannot be used."""
    step = decide(state, settings).step
    return next(label for label, node in DECOMPOSE_EDGES.items() if node == step)


def after_resolve(state: T2State, settings: T2Context) -> Literal["retrieve", "answer"]:
    """Search for what is open, until nothing is or a limit is reached."""
    return "answer" if decide(state, settings).step == "answer" else "retrieve"


def stop_reason(state: T2State, settings: T2Context) -> str:
    """Return why the run answers; to a person whose edit sent it there, the clues suffice."""
    return decide(state, settings).stop_reason or "sufficient"


def held_answer(state: T2State, settings: T2Context) -> str:
    """Return the answer that came with the last round, unless what it saw was edited since."""
    made = state["rounds"][-1] if state["rounds"] else None
    if made is None or made.get("saw") != seen_by(state, settings):
        return ""
    return parse_resolution(made["reply"]).answer


def seen_by(state: T2State, settings: T2Context) -> str:
    """Return the fingerprint of what an answer depends on."""
    own = (state["clues"], state["fills"], state["choices"], state["verdicts"])
    return fingerprint(state["triples"], state["hops"], settings, *own)
