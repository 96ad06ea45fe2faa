"""retrieve: the best facts around the question's entities, as pages."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import passages_event
from ras_flow.nodes.warn import warn
from ras_flow.parts.source import PartsSource
from ras_flow.reg.state import RegState
from ras_flow.state.kg import dropped_in
from ras_flow.state.schema import Hop
from ras_flow.state.usage import Cost


async def retrieve(state: RegState, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Open a hop with the pages of the best facts; each further search takes twice as many."""
    context: Any = parts.context(state, runtime)
    index = len(state["hops"])
    cost = Cost("retriever", f"retrieve:{index}")
    most = context.kg_triples or (await parts.get_reading(context)).kg_triples
    question, entities = state["question"], state["entities"]
    retriever = await parts.get_kg_retriever(context, most << index)
    facts = await retriever.find([question], [entities])
    dropped = dropped_in(state["hops"])
    found = [page for page in facts.pages if page.passage["id"] not in dropped]
    passages = {page.passage["id"]: page.passage for page in found}
    hop = Hop(
        index=index,
        subquery=question,
        passages=list(passages),
        scores=[page.score for page in found],
        triple_scores=facts.scores,
    )
    runtime.stream_writer(passages_event(hop, passages))
    warned = warn(runtime, *facts.warnings)
    return {"hops": [hop], "passages": passages, "usage": cost.usage(), **warned}
