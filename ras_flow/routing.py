"""Every decision on where a run goes next (figure 1): pure functions of state and settings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from ras_flow.errors import InputError
from ras_flow.formats.normalize import normalize_question
from ras_flow.formats.plan import parse_plan
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState, RunState
from ras_flow.state.schema import Hop, Plan, PlanLabel, Step, Triple

PLAN_ATTEMPTS = 2
"""How often one plan is asked for before the run goes on without it."""

SEARCHES = 2
"""How often a subquery is searched for: the second time for passages that the run has not read."""

PLAN_EDGES = {
    "[SUBQ]": "retrieve",
    "[SUFFICIENT] or [NO_RETRIEVAL]": "answer",
    "not usable": "plan",
}
"""Where each plan leads."""


class Decision(NamedTuple):
    """Where to go; with ``answer`` also why the search for knowledge is over."""

    step: Literal["plan", "retrieve", "answer"]
    stop_reason: str = ""


def decide(state: RasState, settings: Context) -> Decision:
    """Decide on the next step from what the state holds.

    ``[SUBQ]`` leads to ``retrieve``, ``[SUFFICIENT]`` and ``[NO_RETRIEVAL]`` to ``answer``; after a
    hop it is ``plan`` until a limit is reached.
    """
    if settings.planning == "static":
        return Decision("answer", "static")
    plan = pending_plan(state)
    if plan is None and held_step(state, settings):
        return Decision("plan")  # It is there already, so no limit ends the run before it.
    match plan:
        case {"error": _}:
            return Decision("answer", "error")
        case {"label": "SUFFICIENT"}:
            return Decision("answer", "sufficient")
        case {"label": "NO_RETRIEVAL" | "NOT_FOUND"}:
            return Decision("answer", "not_found" if state["hops"] else "no_retrieval")
        case {"label": None, "subquery": repeated} if repeated or attempts(state) >= PLAN_ATTEMPTS:
            return Decision("answer", "no_progress")
    if len(state["hops"]) >= settings.max_hops:
        return Decision("answer", "max_hops")
    if over_budget(state, settings):
        return Decision("answer", "budget")
    if plan is not None and plan["label"] == "SUBQ":
        return Decision("retrieve")
    return Decision("plan")


def after_start(state: RasState, settings: Context) -> Literal["to_triples", "plan", "answer"]:
    """Given documents are read first; without any, the planner is asked."""
    return "to_triples" if state["hops"] else after_encode(state, settings)


def after_plan(state: RasState, settings: Context) -> str:
    """Follow the plan by its label; a limit that is reached leads to the answer too."""
    step = decide(state, settings).step
    return next(label for label, node in PLAN_EDGES.items() if node == step)


def after_merge(state: RasState, settings: Context) -> Literal["encode", "plan", "answer"]:
    """Encode the graph where a model that is still to be asked takes soft tokens."""
    reads = readers(state, settings).intersection(state.get("encodes") or ())
    return "encode" if reads else after_encode(state, settings)


def readers(state: RasState, settings: Context) -> set[str]:
    """Return the roles whose models are still to be asked."""
    return {"answerer"} if after_encode(state, settings) == "answer" else {"planner", "answerer"}


def after_encode(state: RasState, settings: Context) -> Literal["plan", "answer"]:
    """Plan the next hop, until a limit is reached."""
    return "answer" if decide(state, settings).step == "answer" else "plan"


def after_review_plan(state: RasState, settings: Context) -> Literal["retrieve", "plan", "answer"]:
    """Follow the plan that a person approved, or theirs."""
    return decide(state, settings).step


def after_review_answer(state: RasState, settings: Context) -> Literal["retrieve", "answer"]:
    """Answer, unless a person asks for one more subquery."""
    return "retrieve" if decide(state, settings).step == "retrieve" else "answer"


def fingerprint(
    triples: Mapping[str, Triple], hops: Sequence[Hop], settings: Context, *more: Any
) -> str:
    """Return 16 hex digits of what a step depends on: graph, chain, models and what is added."""
    chain = [[hop["subquery"], *hop["passages"], None, *hop.get("dropped", ())] for hop in hops]
    models = [getattr(settings, role) for role in settings.model_roles]
    seen = json.dumps([triples, chain, models, *more], sort_keys=True)
    return sha256(seen.encode()).hexdigest()[:16]


def held_step(state: RasState, settings: Context) -> Step | None:
    """Return the step that came along, unless what it saw was edited since."""
    step = state.get("step")
    if step is None or step["saw"] != fingerprint(state["triples"], state["hops"], settings):
        return None
    return step


def pending_plan(state: RasState) -> Plan | None:
    """Return the plan that has not been acted on, if any."""
    plans = state["plans"]
    return plans[-1] if plans and plans[-1]["hop"] == len(state["hops"]) else None


def first_plan(state: RasState) -> Plan:
    """Return the plan to search for the question itself (eq. 1)."""
    question = " ".join(state["question"].split())
    raw = f"[SUBQ] {question}"
    return Plan(index=len(state["plans"]), hop=0, label="SUBQ", subquery=question, raw=raw)


def planned_subquery(state: RasState) -> str:
    """Return what the pending plan searches for; each line on its own.

    Raises:
        InputError: The state was edited so that nothing is planned.
    """
    plan = pending_plan(state)
    if plan is None or not plan["subquery"].strip():
        raise InputError("No subquery is planned: give the last plan of the state a `subquery`.")
    return plan["subquery"]


def stop_reason(state: RasState, settings: Context) -> str:
    """Return why the run answers; to a person whose edit sent it there, the graph suffices."""
    return decide(state, settings).stop_reason or "sufficient"


def attempts(state: RasState) -> int:
    """Return how often the pending plan has been asked for."""
    return sum(plan["hop"] == len(state["hops"]) for plan in state["plans"])


def may_retrieve(state: RasState, settings: Context) -> bool:
    """Tell whether the run's limits leave room for another hop, whatever its last plan says."""
    return (
        settings.planning == "iterative"
        and len(state["hops"]) < settings.max_hops
        and not over_budget(state, settings)
    )


def over_budget(state: RunState, settings: Context) -> bool:
    """Tell whether the run's tokens or working seconds are used up."""
    usage = state["usage"].values()
    tokens = sum(use["input_tokens"] + use["output_tokens"] for use in usage)
    seconds = sum(use["seconds"] for use in usage)
    return (settings.max_tokens is not None and tokens >= settings.max_tokens) or (
        settings.max_seconds is not None and seconds >= settings.max_seconds
    )


def times_searched(state: RasState, subquery: str) -> int:
    """Return how often a subquery was searched for.

    Given documents are the first hop of the question itself, for which no search was made.
    """
    opened = {plan["hop"] for plan in state["plans"]}
    wanted = normalize_question(subquery)
    made = (hop["subquery"] for hop in state["hops"] if hop["index"] in opened)
    return sum(wanted in map(normalize_question, (asked, *asked.splitlines())) for asked in made)


def read_plan(state: RasState, text: str) -> tuple[PlanLabel | None, str, str | None]:
    """Parse a plan and hold it against the chain; q_0 is always the question itself.

    Returns label and subquery; where the label is None, what is wrong with the plan. It has a
    subquery all the same if it repeats itself, as a planner would again if it were asked anew.
    """
    parsed = parse_plan(text)
    if not state["hops"]:
        if parsed.label == "SUFFICIENT":
            return None, "", "Nothing has been retrieved yet, so it cannot be [SUFFICIENT]."
        if parsed.label == "SUBQ" or parsed.wants_subquery:
            return "SUBQ", state["question"], None
    if parsed.label == "SUBQ" and times_searched(state, parsed.subquery) >= SEARCHES:
        problem = f"The subquery {parsed.subquery!r} was already asked {SEARCHES} times."
        return None, parsed.subquery, problem
    return parsed.label, parsed.subquery, parsed.problem
