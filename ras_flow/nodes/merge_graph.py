"""merge_graph: grow the question's graph, G_Q <- G_Q U g'_i (eq. 6)."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import GraphEvent, graph_event
from ras_flow.parts.source import PartsSource
from ras_flow.state.channels import RunState
from ras_flow.state.kg import last_hop, merge_triples, to_new_triples
from ras_flow.state.schema import Triple


async def merge_graph(
    state: RunState, runtime: Runtime[Any], parts: PartsSource, *, encodes: bool = False
) -> dict[str, Any]:
    """Merge the last hop's triples into the graph.

    Where the system ``encodes`` graphs, find out once whether a model of this run reads that.
    """
    last_hop(state["hops"])
    delta, event = await asyncio.to_thread(_merge, state)
    runtime.stream_writer(event)
    update: dict[str, Any] = {"triples": delta}
    if encodes and state.get("encodes") is None:
        update["encodes"] = await parts.encodes(parts.context(state, runtime))
    return update


def _merge(state: RunState) -> tuple[dict[str, Triple], GraphEvent]:
    delta = to_new_triples(state["extracted"])
    known = state["triples"]
    return delta, graph_event(len(state["hops"]) - 1, known, merge_triples(known, delta))
