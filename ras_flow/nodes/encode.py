"""encode: build the attributed graph that the GNN reads (eq. 5)."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ras_flow.context import Context
from ras_flow.events import EncodedEvent
from ras_flow.graph_llm.attributes import attribute_graph
from ras_flow.nodes.measure import Cost
from ras_flow.parts import Parts
from ras_flow.state.channels import RasState


async def encode(state: RasState, runtime: Runtime[Context], parts: Parts) -> dict[str, Any]:
    """Embed the graph's entities and relations.

    Args:
        state: Holds the graph.
        runtime: LangGraph's runtime.
        parts: Where the sentence encoder comes from.

    Returns:
        The attributed graph, in a channel that is not checkpointed, and the time taken.
    """
    hop = len(state["hops"]) - 1
    cost = Cost("encoder", f"encode:{hop}")
    encoder = await parts.get_encoder(parts.context(state, runtime))
    graph = await attribute_graph(state["triples"], state["hops"], encoder)
    runtime.stream_writer(
        EncodedEvent(type="encoded", hop=hop, nodes=len(graph.nodes), edges=len(graph.edges))
    )
    return {"encoding": graph, "usage": cost.usage()}
