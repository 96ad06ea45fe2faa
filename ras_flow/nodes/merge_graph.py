"""merge_graph: grow the question's graph, G_Q <- G_Q U g'_i (eq. 6)."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ras_flow.context import Context
from ras_flow.events import GraphEvent, GraphTriple
from ras_flow.state.channels import RasState
from ras_flow.state.kg import QueryKG, merge_triples, to_new_triples
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
    kg = QueryKG.from_triples(merge_triples(state["triples"], delta))
    new = [id for id in delta if id not in state["triples"]]
    runtime.stream_writer(
        GraphEvent(
            type="graph",
            hop=hop["index"],
            entities=len(kg.entities),
            triples=len(kg.triples),
            new=[_event_triple(id, kg.triples[id]) for id in new],
        )
    )
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


def _event_triple(id: str, triple: Triple) -> GraphTriple:
    return GraphTriple(
        id=id,
        subject=triple["subject"],
        predicate=triple["predicate"],
        object=triple["object"],
        passages=list(dict.fromkeys(source["passage"] for source in triple["sources"])),
    )
