"""encode: embed the attributed graph that the GNN reads (eq. 5)."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import EncodedEvent
from ras_flow.nodes.view import encoding
from ras_flow.parts.chosen import Parts
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState
from ras_flow.state.usage import Cost


async def encode(state: RasState, runtime: Runtime[Context], parts: Parts) -> dict[str, Any]:
    """Embed the graph's entities and relations, for the models that come next.

    The vectors are kept in the process, not in the state: streams and traces would carry them all.
    """
    hop = len(state["hops"]) - 1
    cost = Cost("encoder", f"encode:{hop}")
    graph = await encoding(state, parts.context(state, runtime), parts)
    runtime.stream_writer(
        EncodedEvent(type="encoded", hop=hop, nodes=len(graph.nodes), edges=len(graph.edges))
    )
    return {"usage": cost.usage()}
