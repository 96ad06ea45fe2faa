"""retrieve: the top-k passages for the planned subquery (eq. 3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import passages_event
from ras_flow.nodes.shown import Shown
from ras_flow.parts.checks import one_each, storable
from ras_flow.parts.records import ScoredPassage
from ras_flow.parts.source import PartsSource
from ras_flow.parts.tracing import traced_retrieval
from ras_flow.settings.context import Context
from ras_flow.state.channels import RunState
from ras_flow.state.schema import Hop
from ras_flow.state.usage import Cost


async def retrieve(
    state: RunState,
    runtime: Runtime[Any],
    parts: PartsSource,
    *,
    query: Callable[[Any], str] = lambda state: state["question"],
    shown: Callable[[Any, Context, PartsSource], Awaitable[Shown]] | None = None,
    top_k: int | None = None,
) -> dict[str, Any]:
    """Open a hop with the passages for its subquery, without those that a person dropped.

    ``query`` says what to search for, each line on its own; ``top_k`` how many passages to take
    where neither settings nor answerer do. ``shown`` are the passages that are not wanted again.
    """
    subquery, index = query(state), len(state["hops"])
    context = parts.context(state, runtime)
    dropped = {id for hop in state["hops"] for id in hop.get("dropped", ())}
    known = await shown(state, context, parts) if shown else Shown()
    cost = Cost("retriever", f"retrieve:{index}")
    retriever = await parts.get_retriever(context)
    most = context.top_k or known.most or top_k or (await parts.get_reading(context)).top_k
    queries = subquery.splitlines() if shown else [subquery]
    k = most + len(dropped) + len(known.noted) + len(known.unnoted)
    async with traced_retrieval(
        type(retriever).__name__, subquery, identity=retriever.identity
    ) as found:
        rankings = await one_each(len(queries), list, retriever.retrieve(queries, k), retriever)
        best: dict[str, ScoredPassage] = {}
        left_out: set[str] = set()
        for ranked in rankings:
            new = [storable(scored, retriever) for scored in ranked]
            new = [scored for scored in new if scored.passage["id"] not in dropped]
            wanted, known_here = known.without(new, most)
            left_out |= known_here
            for scored in wanted:
                best.setdefault(scored.passage["id"], scored)
        found += best.values()
    passages = {scored.passage["id"]: scored.passage for scored in found}
    hop = Hop(
        index=index,
        subquery=subquery,
        passages=list(passages),
        scores=[scored.score for scored in found],
    )
    if left_out:
        hop["known"] = len(left_out)
    runtime.stream_writer(passages_event(hop, passages))
    return {"hops": [hop], "passages": passages, "usage": cost.usage()}
