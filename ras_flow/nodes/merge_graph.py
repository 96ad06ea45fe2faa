"""merge_graph: grow the question's graph, G_Q <- G_Q U g'_i (eq. 6)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import GraphEvent, graph_event
from ras_flow.parts.source import PartsSource
from ras_flow.settings.context import Context
from ras_flow.state.channels import RunState
from ras_flow.state.kg import last_hop, to_new_triples
from ras_flow.state.schema import Triple
from ras_flow.support.concurrency import off_loop

Readers = Callable[[Any, Context], Collection[str]]
"""A pure function of state and settings: the roles whose models are still to be asked."""


async def merge_graph(
    state: RunState, runtime: Runtime[Any], parts: PartsSource, *, readers: Readers | None = None
) -> dict[str, Any]:
    """Merge the last hop's triples into the graph.

    A system that encodes graphs passes ``readers``. The first merge finds out which of their models
    take soft tokens.
    """
    last_hop(state["hops"])
    delta, event = await off_loop(len(state["triples"]), _merge, state)
    runtime.stream_writer(event)
    update: dict[str, Any] = {"triples": delta}
    context = parts.context(state, runtime)
    # A person who reviews the graph may still replace a model.
    if readers is not None and state.get("encodes") is None and not context.pause_after_merge:
        update["encodes"] = await parts.encodes(readers(state, context), context)
    return update


def _merge(state: RunState) -> tuple[dict[str, Triple], GraphEvent]:
    delta = to_new_triples(state["extracted"], state["passages"])
    known = state["triples"]
    return delta, graph_event(len(state["hops"]) - 1, known, {**known, **delta})
