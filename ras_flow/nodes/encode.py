"""encode: embed the attributed graph that the GNN reads (eq. 5)."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import EncodedEvent
from ras_flow.nodes.view import visible_triples
from ras_flow.parts.protocols import Answerer, Planner
from ras_flow.parts.source import PartsSource
from ras_flow.routing import readers
from ras_flow.state.channels import RasState
from ras_flow.state.usage import Cost


async def encode(state: RasState, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Embed the entities and relations that the next model reads.

    The vectors are kept in the process, not in the state: streams and traces would carry them all.
    """
    context = parts.context(state, runtime)
    hop = len(state["hops"]) - 1
    cost = Cost("encoder", f"encode:{hop}")
    reader: Planner | Answerer
    if "planner" in readers(state, context).intersection(state.get("encodes") or ()):
        reader = await parts.get_planner(context)
    else:
        reader = await parts.get_answerer(context)
    triples = await visible_triples(state, context, parts, reader)
    graph = await parts.attribute(triples, state["hops"], context)
    runtime.stream_writer(
        EncodedEvent(type="encoded", hop=hop, nodes=len(graph.nodes), edges=len(graph.edges))
    )
    return {"usage": cost.usage()}
