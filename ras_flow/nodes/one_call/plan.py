"""plan: take the step that came with the hop's facts, or ask anew where what it saw changed."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import plan_event
from ras_flow.nodes.one_call.reading import read_hop, unread
from ras_flow.nodes.warn import warn
from ras_flow.parts.source import PartsSource
from ras_flow.routing import first_plan, held_step, may_retrieve, pending_plan
from ras_flow.state.channels import RasState
from ras_flow.state.schema import Plan, PlanLabel, Step
from ras_flow.state.usage import Cost

_LABELS: dict[str | None, PlanLabel | None] = {
    "SUBQ": "SUBQ",
    "ANSWER": "SUFFICIENT",
    "NOT_FOUND": "NOT_FOUND",
    "NO_RETRIEVAL": "NO_RETRIEVAL",
    None: None,
}


async def plan(state: RasState, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Search for the question first; then take each step, at no cost where it came along."""
    context = parts.context(state, runtime)
    update: dict[str, Any] = {}
    if not state["hops"]:
        record = first_plan(state)
    else:
        rejected = pending_plan(state)
        step = None if rejected else held_step(state, context)
        if step is None:
            cost = Cost("reader", f"plan:{len(state['plans'])}")
            new = unread(state) if rejected else []
            problem = rejected.get("problem") if rejected else None
            last = not may_retrieve(state, context)
            read = await read_hop(state, context, parts, cost, new=new, last=last, problem=problem)
            step = read.step(state, context, state["triples"])
            update = {"step": step, "usage": cost.usage(), **warn(runtime, *read.warnings)}
        record = _planned(state, step)
    runtime.stream_writer(plan_event(record))
    return {"plans": [record], **update}


def _planned(state: RasState, step: Step) -> Plan:
    planned = Plan(
        index=len(state["plans"]),
        hop=len(state["hops"]),
        label=_LABELS[step["label"]],
        subquery=step["subquery"],
        raw=step["raw"],
    )
    if "problem" in step:
        planned["problem"] = step["problem"]
    return planned
