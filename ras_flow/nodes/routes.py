"""Routes between nodes, with pauses for a person on the way where the settings ask for them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Any, get_args, get_type_hints

from langchain_core.runnables import RunnableConfig, RunnableLambda

from ras_flow.builder import SystemBuilder
from ras_flow.nodes.review import Decide, Review, review
from ras_flow.systems import System

Route = Decide | tuple[Decide, Mapping[str, str]]
"""What decides, with the nodes by its labels where its return type does not name them."""


class _Router(RunnableLambda[Any, str]):
    """A router whose decision is kept where the run is cancelled meanwhile.

    LangGraph writes what a node returned, and only then asks its router. It takes a step that is
    cancelled in between for done: resumed, the run would end without an answer. So the decision is
    made without giving way to other tasks.
    """

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        return self.func(input)


def add_routes(
    builder: SystemBuilder[Any],
    system: System,
    routes: Mapping[str, Route],
    reviews: Sequence[Review] = (),
) -> None:
    """Add conditional edges, and the nodes that wait for a person on their way.

    Args:
        builder: Has all other nodes.
        system: Says what edits do.
        routes: By the node that they begin at.
        reviews: In the order of a run's way. After one of them only later ones are met, so that
            what a person changed there counts as reviewed.
    """
    for source, route in routes.items():
        add_route(builder, source, route, reviews)
    for number, one in enumerate(reviews, start=1):
        builder.add_work(one.node, partial(review, of=one, system=system))
        add_route(builder, one.node, one.then, reviews[number:])


def add_route(
    builder: SystemBuilder[Any],
    source: str,
    route: Route,
    reviews: Sequence[Review] = (),
) -> None:
    """Add conditional edges from one node, by way of the reviews that the settings ask for."""
    decide, edges = route if isinstance(route, tuple) else (route, _ends(route))
    after = [one for one in reviews if one.after == source]
    before = {one.before: one for one in reviews if one.before}
    paused = {
        label: one.node if label == end else f"{label}, paused"
        for label, end in edges.items()
        if (one := before.get(end))
    }

    def follow(state: Any) -> str:
        settings = builder.parts.context(state)
        for one in after:
            if one.is_wanted(settings):
                return one.node
        label = decide(state, settings)
        if label in paused and before[edges[label]].is_wanted(settings):
            return paused[label]
        return label

    ends: dict[Hashable, str] = {one.node: one.node for one in after}
    ends.update(edges)
    ends.update((name, before[edges[label]].node) for label, name in paused.items())
    builder.add_conditional_edges(source, _Router(follow), ends)


def _ends(decide: Decide) -> dict[str, str]:
    return {end: end for end in get_args(get_type_hints(decide)["return"])}
