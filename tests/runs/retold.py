"""A stored run as the progress events that it once sent."""

from __future__ import annotations

from collections.abc import Iterator

from ras_flow.events import (
    AnswerEvent,
    Event,
    StartEvent,
    WarningEvent,
    graph_event,
    passages_event,
    plan_event,
)
from ras_flow.state.channels import RasState
from ras_flow.state.kg import by_hop
from ras_flow.state.schema import Triple


def events_of(state: RasState) -> Iterator[Event]:
    """Tell a run's story again from its state.

    Args:
        state: The state of a run, finished or not.

    Yields:
        Question, then for each hop its plans, passages and new triples, then what is after the
        last hop, warnings, and the answer if there is one. Nothing for a run that ended before
        its first step.
    """
    if "question" not in state:
        return
    yield StartEvent(type="start", question=state["question"])
    hops, plans = state.get("hops", []), state.get("plans", [])
    for index in range(len(hops) + 1):
        yield from (plan_event(plan) for plan in plans if plan["hop"] == index)
        if index < len(hops):
            yield passages_event(hops[index], state["passages"])
            before, graph = (_graph(state, end) for end in (index, index + 1))
            grown = graph_event(index, before, graph)
            # The last hop of an unfinished run may not have been merged yet.
            later = state.get("stop_reason") or any(plan["hop"] > index for plan in plans)
            if grown["new"] or later:
                yield grown
    yield from (WarningEvent(type="warning", message=text) for text in state.get("warnings", []))
    if state.get("stop_reason"):
        yield AnswerEvent(
            type="answer",
            answer=state["answer"],
            stop_reason=state["stop_reason"],
            citations=state["citations"],
        )


def _graph(state: RasState, hops: int) -> dict[str, Triple]:
    """Return what of the graph the first hops found."""
    found = {id for ids in by_hop(state["triples"], state["hops"])[:hops] for id in ids}
    return {id: triple for id, triple in state["triples"].items() if id in found}
