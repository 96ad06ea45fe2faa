"""plan: ask the planner what to do next (eq. 1 and 2)."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ras_flow.errors import ModelUnavailableError
from ras_flow.events import plan_event
from ras_flow.nodes.view import passages_read, view
from ras_flow.nodes.warn import loss_of, warn
from ras_flow.parts.checks import one_each
from ras_flow.parts.protocols import searches_first
from ras_flow.parts.records import PlanRequest, Reply
from ras_flow.parts.source import PartsSource
from ras_flow.routing import first_plan, pending_plan, read_plan
from ras_flow.state.channels import RasState
from ras_flow.state.schema import Plan
from ras_flow.state.usage import Cost


async def plan(state: RasState, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Ask once; whether to ask again is decided by the routing."""
    context = parts.context(state, runtime)
    planner = await parts.get_planner(context)
    if not state["hops"] and searches_first(planner, context):
        record = first_plan(state)
        runtime.stream_writer(plan_event(record))
        return {"plans": [record]}
    rejected = pending_plan(state)
    record = Plan(
        index=len(state["plans"]), hop=len(state["hops"]), label=None, subquery="", raw=""
    )
    cost = Cost("planner", f"plan:{record['index']}")
    texts = passages_read(state, context, parts, None)
    chain, graph = await view(state, context, parts, planner, texts)
    request = PlanRequest(
        question=state["question"],
        chain=chain,
        graph=graph,
        instruction=context.instruction,
        problem=rejected.get("problem") if rejected else None,
        may_give_up=searches_first(planner, context),
    )
    try:
        [reply] = await one_each(1, Reply, planner.plan([request]), planner)
    except ModelUnavailableError as error:
        if not state["hops"]:
            raise
        return {"plans": [{**record, "error": str(error)}], **warn(runtime, str(error))}
    cost.add(reply, reply.calls)
    label, subquery, problem = read_plan(state, reply.text)
    record = {**record, "label": label, "subquery": subquery, "raw": reply.text}
    if problem:
        record["problem"] = problem
    runtime.stream_writer(plan_event(record))
    return {"plans": [record], "usage": cost.usage(), **warn(runtime, *loss_of("planner", reply))}
