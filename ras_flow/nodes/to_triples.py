"""to_triples: turn the hop's new passages into triples (eq. 4)."""

from __future__ import annotations

from collections import Counter
from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import ExtractedEvent
from ras_flow.nodes.warn import warn
from ras_flow.parts.source import PartsSource
from ras_flow.state.channels import RunState
from ras_flow.state.kg import last_hop, passage_in, read_in
from ras_flow.state.usage import Cost
from ras_flow.triples.cache import TripleCache
from ras_flow.triples.extraction import Made, as_extracted, extract, pages_triples


async def to_triples(state: RunState, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Extract every passage of the last hop that no earlier hop has read.

    A page of a knowledge graph states its triples itself: no model is asked, and nothing refined.

    A batch's triples are put into the store as soon as they are there, so that a run that is
    killed here asks for none of them again. The store keeps them as extracted; what enters the
    graph is refined by :mod:`ras_flow.formats.quality`.
    """
    earlier, hop = state["hops"][:-1], last_hop(state["hops"])
    seen = {passage for each in earlier for passage in read_in(each)}
    new = [passage_in(hop, state["passages"], id) for id in hop["passages"] if id not in seen]
    context = parts.context(state, runtime)
    keeps_text = parts.keeps_text(context)
    cost = Cost("extractor", f"to_triples:{hop['index']}")
    stated = pages_triples(new)
    texts = [passage for passage in new if "triples" not in passage]
    made = Made()
    if texts:
        extractor = await parts.get_extractor(context)
        cache = TripleCache(None if keeps_text else runtime.store, extractor.identity)
        made = await extract(texts, extractor, cache)
    warned = warn(runtime, *made.problems(texts))
    for one in () if keeps_text else made.fresh.values():
        cost.add(one, one.calls)
    dropped = Counter(unreadable=sum(len(one.dropped) for one in made.fresh.values()))
    for kept in made.refined.values():
        dropped.update(kept.left_out)
    extracted = [*as_extracted(made.refined), *stated]
    runtime.stream_writer(
        ExtractedEvent(
            type="extracted",
            hop=hop["index"],
            passages=len(new),
            cached=len(made.known),
            triples=sum(len(one["triples"]) for one in extracted),
            dropped=dropped.total(),
            reasons=dict(+dropped),
        )
    )
    update = {"extracted": extracted, "usage": cost.usage(), **warned}
    failed = [id for id, one in made.fresh.items() if one.error is not None and not one.triples]
    if failed != hop.get("failed", []):
        update["hops"] = [{"index": hop["index"], "failed": failed}]
    return update
