"""RAS's edits: of the plan too, and where on a run's way each edit makes sense."""

from __future__ import annotations

from ras_flow.edits.draft import Draft, EditPoint, Operation
from ras_flow.edits.graph import GRAPH_EDITS, SHARED
from ras_flow.edits.records import SetPlan, SetSubquery
from ras_flow.errors import InputError
from ras_flow.formats.plan import format_plan
from ras_flow.routing import decide, may_retrieve, pending_plan, read_plan
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState
from ras_flow.state.schema import Plan, PlanLabel

BEFORE_PLAN = ("subquery", "plan", "model")
"""The edits that a review before a hop's retrieval takes."""

_GRAPH = (*GRAPH_EDITS, "model")
_ALL = (*GRAPH_EDITS, *BEFORE_PLAN)

EDIT_POINTS = {
    "__start__": EditPoint((), "__start__"),
    "start": EditPoint(("model",), "__start__"),
    "plan": EditPoint(_ALL, "encode"),
    "review_plan": EditPoint(_ALL, "review_plan"),
    "retrieve": EditPoint(_ALL, "review_plan"),
    "to_triples": EditPoint(_GRAPH, "retrieve"),
    "merge_graph": EditPoint(_GRAPH, "to_triples"),
    "review_graph": EditPoint(_GRAPH, "encode"),
    "encode": EditPoint(_ALL, "encode"),
    "review_answer": EditPoint(_ALL, "review_answer"),
    "answer": EditPoint(_ALL, "review_answer"),
    "": EditPoint(_ALL, "review_answer"),
}
"""Before each node; an edited plan always goes on after ``review_plan``.

Edits count as reviewed: nobody is asked about them again. A node that needs the encoded graph
encodes one that an edit made stale again."""


def before_answer(state: RasState, settings: Context) -> list[str]:
    """Return the edits that can be made before the answer."""
    return [*_GRAPH, "subquery"] if may_retrieve(state, settings) else list(_GRAPH)


def _set_subquery(draft: Draft, edit: SetSubquery) -> None:
    try:
        raw = format_plan("SUBQ", edit["text"])
    except InputError as error:
        draft.refuse(str(error))
    if draft.hops:
        _set_plan(draft, {"op": "plan", "text": raw})
    else:
        # Unlike a planner, who always asks the question itself first, a person means the words.
        _replan(draft, "SUBQ", raw.removeprefix("[SUBQ] "), raw)


def _set_plan(draft: Draft, edit: SetPlan) -> None:
    label, subquery, problem = read_plan(draft.as_state(), edit["text"])
    if label is None:
        draft.refuse(f"the plan cannot be used. {problem}")
    _replan(draft, label, subquery, edit["text"])


def _replan(draft: Draft, label: PlanLabel, subquery: str, raw: str) -> None:
    pending = pending_plan(draft.as_state())
    index = pending["index"] if pending else len(draft.plans)
    plan = Plan(index=index, hop=len(draft.hops), label=label, subquery=subquery, raw=raw)
    draft.plans = [*(draft.plans[:-1] if pending else draft.plans), plan]
    draft.as_node = "review_plan"
    if label == "SUBQ":
        stop = decide(draft.as_state(), draft.context()).stop_reason
        if stop:
            draft.refuse(
                f"nothing more can be retrieved at this step, the run's limits say {stop!r}. Fork "
                "from an earlier step, or ask again with wider limits."
            )


OPERATIONS = {
    **SHARED,
    "subquery": Operation(SetSubquery, _set_subquery),
    "plan": Operation(SetPlan, _set_plan),
}
"""RAS's edits by ``op``."""
