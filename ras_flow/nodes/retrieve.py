"""retrieve: the top-k passages for the planned subquery (eq. 3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import passages_event
from ras_flow.nodes.shown import LeftOut, Shown
from ras_flow.nodes.warn import warn
from ras_flow.parts.checks import one_each, storable
from ras_flow.parts.facts import Facts
from ras_flow.parts.records import ScoredPassage
from ras_flow.parts.source import PartsSource
from ras_flow.parts.tracing import traced_retrieval
from ras_flow.settings.context import Context
from ras_flow.state.channels import RunState
from ras_flow.state.kg import dropped_in
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
    Pages of a knowledge graph come beside them.
    """
    subquery, index = query(state), len(state["hops"])
    context = parts.context(state, runtime)
    dropped = dropped_in(state["hops"])
    known = await shown(state, context, parts) if shown else Shown()
    cost = Cost("retriever", f"retrieve:{index}")
    queries = subquery.splitlines() if shown else [subquery]
    facts = Facts([], {}, [])
    if parts.has_knowledge(context):
        facts = await (await parts.get_kg_retriever(context)).search(queries)
    found: list[ScoredPassage] = []
    left = LeftOut(set(), set())
    if parts.has_documents(context):
        most = context.top_k or known.most or top_k or (await parts.get_reading(context)).top_k
        found, left = await _search(queries, most, known, dropped, context, parts)
    seen = dropped | known.noted | known.unnoted
    found += [page for page in facts.pages if page.passage["id"] not in seen]
    passages = {scored.passage["id"]: scored.passage for scored in found}
    hop = Hop(
        index=index,
        subquery=subquery,
        passages=list(passages),
        scores=[scored.score for scored in found],
    )
    if facts.scores:
        hop["triple_scores"] = facts.scores
    if left.known:
        hop["known"] = len(left.known)
    if weak := left.weak - passages.keys():
        hop["weak"] = len(weak)
    runtime.stream_writer(passages_event(hop, passages))
    warned = warn(runtime, *facts.warnings)
    return {"hops": [hop], "passages": passages, "usage": cost.usage(), **warned}


async def _search(
    queries: Sequence[str],
    most: int,
    known: Shown,
    dropped: Collection[str],
    context: Context,
    parts: PartsSource,
) -> tuple[list[ScoredPassage], LeftOut]:
    """Return the best passages for all queries, and those that were left out."""
    retriever = await parts.get_retriever(context)
    k = most + len(dropped) + len(known.noted) + len(known.unnoted)
    async with traced_retrieval(
        type(retriever).__name__, "\n".join(queries), identity=retriever.identity
    ) as found:
        rankings = await one_each(len(queries), list, retriever.retrieve(queries, k), retriever)
        best: dict[str, ScoredPassage] = {}
        left = LeftOut(set(), set())
        for ranked in rankings:
            new = [storable(scored, retriever) for scored in ranked]
            new = [scored for scored in new if scored.passage["id"] not in dropped]
            wanted, left_here = known.without(new, most)
            left.known.update(left_here.known)
            left.weak.update(left_here.weak)
            for scored in wanted:
                best.setdefault(scored.passage["id"], scored)
        found += best.values()
    return list(found), left
