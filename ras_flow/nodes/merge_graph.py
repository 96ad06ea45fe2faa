"""merge_graph: grow the question's graph, G_Q <- G_Q U g'_i (eq. 6)."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ras_flow.context import Context
from ras_flow.events import graph_event
from ras_flow.state.channels import RasState
from ras_flow.state.kg import merge_triples, to_new_triples
from ras_flow.state.schema import Source, Triple


async def merge_graph(state: RasState, runtime: Runtime[Context]) -> dict[str, Any]:
    """Merge the last hop's triples into the graph.

    A passage that an earlier hop had brings its triples into this hop's g_i too.

    Args:
        state: Holds the graph, the last hop and what was extracted for it.
        runtime: LangGraph's runtime.

    Returns:
        The triples that are new or have a new source; the reducer merges them.
    """
    hop = state["hops"][-1]
    delta = merge_triples(
        to_new_triples(state["extracted"], hop["index"]), _found_again(state, hop["index"])
    )
    merged = merge_triples(state["triples"], delta)
    runtime.stream_writer(graph_event(hop["index"], merged))
    return {"triples": delta, "extracted": []}


def _found_again(state: RasState, hop: int) -> dict[str, Triple]:
    """Return the known triples of the hop's passages, with the hop as a further source."""
    passages = set(state["hops"][-1]["passages"])
    again = {}
    for id, triple in state["triples"].items():
        found = {source["passage"] for source in triple["sources"]} & passages
        if found:
            sources = [Source(passage=passage, hop=hop) for passage in sorted(found)]
            again[id] = Triple(
                subject=triple["subject"],
                predicate=triple["predicate"],
                object=triple["object"],
                sources=sources,
            )
    return again
