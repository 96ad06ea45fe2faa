"""review_plan, review_graph, review_answer: wait for a person, then go on with what they changed.

They are on a run's way only where its Context asks for them.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any, cast

from langgraph.errors import GraphInterrupt
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from ras_flow.edits.apply import apply_edits
from ras_flow.edits.operations import Edit, check_models, parse_edits
from ras_flow.errors import EditError
from ras_flow.events import ReviewEvent, ReviewPoint
from ras_flow.nodes.view import reads_encoding
from ras_flow.parts.chosen import Parts
from ras_flow.routing import may_retrieve, pending_plan
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState

POINTS: dict[str, ReviewPoint] = {
    "review_plan": "before_retrieval",
    "review_graph": "after_merge",
    "review_answer": "before_answer",
}
"""The nodes that wait for a person, and where on a run's way they are."""

_GRAPH_EDITS = ["drop_triple", "add_triple", "drop_passage", "model"]


async def review(
    state: RasState, runtime: Runtime[Context], parts: Parts, node: str
) -> dict[str, Any]:
    """Pause until a person has approved or edited the state; an answer that is no good asks again.

    The interrupt's value is a :class:`ras_flow.events.ReviewEvent`; it is answered with
    ``{"edits": [...]}``, and approved with an empty list. LangGraph takes a bare ``{}`` for an
    empty mapping of interrupts and does not hand it on; as one interrupt's answer in such a
    mapping, ``{id: {}}``, it approves too.
    """
    context = parts.context(state, runtime)
    # As they are now, whatever the state keeps: an edit may depend on them.
    named = {name: getattr(context, name) for name in parts.named(state, runtime)}
    state = {**state, "settings": named, "defaults": asdict(context)}
    request = _request(state, context, POINTS[node])
    while True:
        # LangGraph runs this node again from its start for each answer; the earlier ones are given
        # again in their order. So nothing here may have an effect before the last.
        answer = _ask(request, runtime)
        try:
            edits = _read(answer, request["allowed"])
            update = apply_edits(state, edits, before=node).values
            await check_models(edits, context, parts)
            break
        except EditError as error:
            request = {**request, "problem": str(error)}
    if node == "review_graph":
        models = update.get("models") or state.get("models")
        context = parts.context(cast(RasState, {**state, "models": models}), runtime)
        await asyncio.to_thread(reads_encoding, state, context, parts)
    return update


def _request(state: RasState, context: Context, point: ReviewPoint) -> ReviewEvent:
    hops, plan = state["hops"], pending_plan(state)
    subquery = plan["subquery"] if plan and point == "before_retrieval" else ""
    if point == "after_merge":
        subquery = hops[-1]["subquery"]
    return ReviewEvent(
        type="review",
        point=point,
        hop=len(hops) - 1 if point == "after_merge" else len(hops),
        question=state["question"],
        subquery=subquery,
        triples=state["triples"],
        passages=list(state["passages"]),
        allowed=_allowed(state, context, point),
    )


def _allowed(state: RasState, context: Context, point: ReviewPoint) -> list[str]:
    match point:
        case "before_retrieval":
            return ["subquery", "plan", "model"]
        case "before_answer" if may_retrieve(state, context):
            return [*_GRAPH_EDITS, "subquery"]
        case _:
            return _GRAPH_EDITS


def _ask(request: ReviewEvent, runtime: Runtime[Context]) -> object:
    try:
        return interrupt(request)
    except GraphInterrupt:
        # Only now is it known that the answer is still to come.
        runtime.stream_writer(request)
        raise


def _read(answer: object, allowed: list[str]) -> list[Edit]:
    if not isinstance(answer, dict) or not answer.keys() <= {"edits"}:
        raise EditError(
            'A review is answered with {"edits": […]}; with an empty list the run goes on as it is.'
        )
    edits = parse_edits(answer.get("edits", []))
    for number, edit in enumerate(edits, start=1):
        if edit["op"] not in allowed:
            raise EditError(
                f"Edit {number}: {edit['op']!r} cannot be done here. "
                f"What can be done: {', '.join(allowed)}."
            )
    return edits
