"""merge_graph: grow the question's graph, G_Q <- G_Q U g'_i (eq. 6)."""

from __future__ import annotations

import asyncio
from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import GraphEvent, graph_event
from ras_flow.nodes.view import check_hop, reads_encoding
from ras_flow.parts.chosen import Parts
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState
from ras_flow.state.kg import merge_triples, to_new_triples
from ras_flow.state.schema import Triple


async def merge_graph(state: RasState, runtime: Runtime[Context], parts: Parts) -> dict[str, Any]:
    """Merge the last hop's triples into the graph."""
    check_hop(state)
    context = parts.context(state, runtime)
    delta, event = await asyncio.to_thread(_merge, state, context, parts)
    runtime.stream_writer(event)
    return {"triples": delta}


def _merge(state: RasState, context: Context, parts: Parts) -> tuple[dict[str, Triple], GraphEvent]:
    if not context.pause_after_merge:
        reads_encoding(state, context, parts)
    delta = to_new_triples(state["extracted"])
    known = state["triples"]
    return delta, graph_event(len(state["hops"]) - 1, known, merge_triples(known, delta))
