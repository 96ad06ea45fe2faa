"""review: wait for a person, then go on with what they changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langgraph.errors import GraphInterrupt
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from ras_flow.edits.apply import apply_edits
from ras_flow.edits.parse import check_models, parse_edits
from ras_flow.edits.records import Edit
from ras_flow.errors import EditError
from ras_flow.events import ReviewEvent
from ras_flow.nodes.merge_graph import Readers
from ras_flow.parts.source import PartsSource
from ras_flow.settings.context import Context
from ras_flow.systems import System

Decide = Callable[[Any, Any], str]
"""A pure function of state and settings: the label of the edge to follow."""


@dataclass(frozen=True, kw_only=True)
class Review:
    """A pause for a person, before one node or after another.

    Attributes:
        node: The name of the node that waits.
        point: Where on a run's way it is; ``pause_{point}`` is the setting that asks for it.
        before: The node that it comes before, whatever leads there.
        after: The node that it comes after.
        allowed: Which edits can be made there; by default all that the system has for ``node``.
        then: Where the run goes on.
        readers: The roles still to be asked; ``then`` must know which of them take soft tokens.
        shows: What the person is shown beside graph and passages, by the name of a
            :class:`ras_flow.events.ReviewEvent`'s field; ``subquery`` for what is asked next.
    """

    node: str
    point: str
    before: str = ""
    after: str = ""
    then: Decide
    allowed: Sequence[str] | Callable[[Any, Context], Sequence[str]] = ()
    readers: Readers | None = None
    shows: Callable[[Any, Any], dict[str, Any]] | None = None

    def is_wanted(self, settings: Context) -> bool:
        """Tell whether the run is to wait here."""
        return bool(getattr(settings, f"pause_{self.point}"))


async def review(
    state: Any, runtime: Runtime[Any], parts: PartsSource, *, of: Review, system: System
) -> dict[str, Any]:
    """Pause until a person has approved or edited the state; an invalid answer is asked for again.

    The interrupt's value is a :class:`ras_flow.events.ReviewEvent`; it is answered with
    ``{"edits": [...]}``, and approved with an empty list. LangGraph takes a bare ``{}`` for an
    empty mapping of interrupts and does not hand it on; as one interrupt's answer in such a
    mapping, ``{id: {}}``, it approves too.
    """
    context = parts.context(state, runtime)
    request = _request(state, context, of, system)
    while True:
        # LangGraph runs this node again from its start for each answer, and gives the earlier ones
        # again in their order. So nothing here may have an effect before the last.
        answer = _ask(request, runtime)
        try:
            edits = _read(answer, request["allowed"], system)
            edited = apply_edits(system, state, edits, before=of.node)
            await check_models(edits, context, parts)
            break
        except EditError as error:
            request = {**request, "problem": str(error)}
    if of.readers is None or edited.state.get("encodes") is not None:
        return edited.values
    context = parts.context(edited.state, runtime)
    encodes = await parts.encodes(of.readers(edited.state, context), context)
    return {**edited.values, "encodes": encodes}


def _request(state: Any, context: Context, of: Review, system: System) -> ReviewEvent:
    place = system.edit_points.get(of.node)
    known = place.allowed if place else ()
    allowed = of.allowed(state, context) if callable(of.allowed) else of.allowed or known
    hops, merged = state["hops"], of.point == "after_merge"
    subquery = hops[-1]["subquery"] if merged else ""
    if of.point == "before_retrieval":
        subquery = (state.get("plans") or [{}])[-1].get("subquery", "")
    request = ReviewEvent(
        type="review",
        point=of.point,
        hop=len(hops) - 1 if merged else len(hops),
        question=state["question"],
        subquery=subquery,
        triples=state["triples"],
        passages=list(state["passages"]),
        allowed=list(allowed),
    )
    return cast(ReviewEvent, {**request, **of.shows(state, context)}) if of.shows else request


def _ask(request: ReviewEvent, runtime: Runtime[Any]) -> object:
    try:
        return interrupt(request)
    except GraphInterrupt:
        # Only now is it known that the answer is still to come.
        runtime.stream_writer(request)
        raise


def _read(answer: object, allowed: list[str], system: System) -> list[Edit]:
    if not isinstance(answer, dict) or not answer.keys() <= {"edits"}:
        raise EditError(
            'Answer a review with {"edits": […]}; an empty list approves the run as it is.'
        )
    edits = parse_edits(answer.get("edits", []), system.operations)
    for number, edit in enumerate(edits, start=1):
        if edit["op"] not in allowed:
            raise EditError(
                f"Edit {number}: {edit['op']!r} cannot be done here. "
                f"What can be done: {', '.join(allowed) or 'no edit at all'}."
            )
    return edits
