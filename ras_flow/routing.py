"""Every decision on where a run goes next, in one function (paper figure 1)."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ras_flow.formats.normalize import normalize_question
from ras_flow.formats.plan import PlanLabel, parse_plan
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState
from ras_flow.state.schema import Plan, StopReason

PLAN_ATTEMPTS = 2
"""How often one plan is asked for before the run goes on without it."""


class Decision(NamedTuple):
    """Where to go; with ``answer`` also why the search for knowledge is over."""

    step: Literal["plan", "retrieve", "answer"]
    stop_reason: StopReason | None = None


def pending_plan(state: RasState) -> Plan | None:
    """Return the plan that has not been acted on, if any."""
    plans = state["plans"]
    return plans[-1] if plans and plans[-1]["hop"] == len(state["hops"]) else None


def attempts(state: RasState) -> int:
    """Return how often the pending plan has been asked for."""
    return sum(plan["hop"] == len(state["hops"]) for plan in state["plans"])


def was_searched(state: RasState, subquery: str) -> bool:
    """Tell whether a search was made before.

    Given documents are the first hop of the question itself, for which no search was made.
    """
    opened = {plan["hop"] for plan in state["plans"]}
    made = (hop["subquery"] for hop in state["hops"] if hop["index"] in opened)
    return normalize_question(subquery) in map(normalize_question, made)


def read_plan(state: RasState, text: str) -> tuple[PlanLabel | None, str, str | None]:
    """Parse a plan and hold it against the chain; q_0 is always the question itself."""
    parsed = parse_plan(text)
    if not state["hops"]:
        if parsed.label == "SUFFICIENT":
            return None, "", "Nothing has been retrieved yet, so it cannot be [SUFFICIENT]."
        if parsed.label == "SUBQ" or parsed.wants_subquery:
            return "SUBQ", state["question"], None
    if parsed.label == "SUBQ":
        if was_searched(state, parsed.subquery):
            return None, "", f"The subquery {parsed.subquery!r} was already asked."
    return parsed.label, parsed.subquery, parsed.problem


def over_budget(state: RasState, context: Context) -> bool:
    """Tell whether the run's tokens or working seconds are used up."""
    usage = state["usage"].values()
    tokens = sum(use["input_tokens"] + use["output_tokens"] for use in usage)
    seconds = sum(use["seconds"] for use in usage)
    return (context.max_tokens is not None and tokens >= context.max_tokens) or (
        context.max_seconds is not None and seconds >= context.max_seconds
    )


def next_node(
    state: RasState, context: Context
) -> Literal["plan", "retrieve", "review_answer", "answer"]:
    """Return the node of the next step; before an answer, the pause that the context asks for."""
    step = decide(state, context).step
    return "review_answer" if step == "answer" and context.pause_before_answer else step


def may_retrieve(state: RasState, context: Context) -> bool:
    """Tell whether the run's limits leave room for another hop, whatever its last plan says."""
    return (
        context.planning == "iterative"
        and len(state["hops"]) < context.max_hops
        and not over_budget(state, context)
    )


def decide(state: RasState, context: Context) -> Decision:
    """Decide on the next step from what the state holds."""
    if context.planning == "static":
        return Decision("answer", "static")
    plan = pending_plan(state)
    match plan:
        case {"error": _}:
            return Decision("answer", "error")
        case {"label": "SUFFICIENT"}:
            return Decision("answer", "sufficient")
        case {"label": "NO_RETRIEVAL"}:
            return Decision("answer", "sufficient" if state["hops"] else "no_retrieval")
        case {"label": None} if attempts(state) >= PLAN_ATTEMPTS:
            return Decision("answer", "no_progress")
    if len(state["hops"]) >= context.max_hops:
        return Decision("answer", "max_hops")
    if over_budget(state, context):
        return Decision("answer", "budget")
    if plan is not None and plan["label"] == "SUBQ":
        return Decision("retrieve")
    return Decision("plan")
