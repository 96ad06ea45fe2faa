"""A planner whose own runs are played, while the teacher says what would have been right (DAgger).

The runs of a teacher that knows the gold facts lead to few of the states that a trained planner
comes to by its own plans. So the planner's plans are followed, and what is recorded at each state
is the teacher's (Ross et al. 2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ras_flow.errors import ModelResponseError, ModelUnavailableError
from ras_flow.formats.normalize import normalize_question
from ras_flow.formats.plan import format_plan, parse_plan
from ras_flow.parts.checks import reading_of
from ras_flow.parts.protocols import Planner
from ras_flow.parts.records import PlanRequest, Reply
from recipes.graph_llm.teacher import Teacher


class Student:
    """Plans one run: asks what the planner asks, and goes on where it would stop too early.

    Each run begins with the question itself, for which the planner is not asked. Where its plan is
    no subquery, or one that was asked before, the teacher's is taken. What it asks after the graph
    suffices is searched for, and what is recorded there is [SUFFICIENT].
    """

    def __init__(self, planner: Planner, teacher: Teacher) -> None:
        self._planner, self._teacher = planner, teacher
        self.identity = planner.identity
        self.takes_soft_tokens = planner.takes_soft_tokens
        self.reading = reading_of(planner)

    async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
        """Say what is to be done next, by the planner where its plan can be followed."""
        return [await self._plan(request) for request in requests]

    async def _plan(self, request: PlanRequest) -> Reply:
        target, step = self._teacher.advise(request.chain)
        if target is None:
            return Reply("[SUFFICIENT]", calls=0)
        reply = Reply("", calls=0)
        if request.chain:
            try:
                [reply] = await self._planner.plan([request])
            except ModelResponseError as error:
                # This run alone ends here, as where the planner cannot be reached.
                raise ModelUnavailableError(str(error)) from error
            # A run is kept even if the window could not hold all its triples.
            reply = replace(reply, lost_triples=0)
        if subquery := _new_subquery(reply.text, request):
            self._teacher.ask(subquery, step)
            return reply
        if target["label"] != "SUBQ":
            return replace(reply, text="[SUFFICIENT]")
        self._teacher.ask(target["subquery"], step)
        return replace(reply, text=format_plan("SUBQ", target["subquery"]))


def _new_subquery(text: str, request: PlanRequest) -> str:
    """Return the subquery of a plan; empty where it has none, or one of the chain."""
    plan = parse_plan(text)
    asked = {normalize_question(link.subquery) for link in request.chain}
    if plan.label != "SUBQ" or normalize_question(plan.subquery) in asked:
        return ""
    return plan.subquery
