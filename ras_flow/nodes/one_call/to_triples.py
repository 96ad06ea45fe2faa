"""to_triples: read the hop in one call, note its facts and the step that comes with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import ExtractedEvent
from ras_flow.formats.normalize import name_key
from ras_flow.formats.quality import refine
from ras_flow.formats.stated import is_stated
from ras_flow.formats.triples import Spo
from ras_flow.nodes.one_call.reading import Read, read_hop, unread
from ras_flow.nodes.warn import warn
from ras_flow.parts.source import PartsSource
from ras_flow.routing import may_retrieve
from ras_flow.state.channels import RasState
from ras_flow.state.kg import as_spo, last_hop, merge_triples, to_new_triples
from ras_flow.state.schema import Extracted, passage_id
from ras_flow.state.usage import Cost
from ras_flow.triples.cache import TripleCache
from ras_flow.triples.extraction import pages_triples

UNSTATED = "not in its passage"


async def to_triples(state: RasState, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Read the last hop's passages; keep the facts that they state, and the step.

    A passage of which a fact is kept adds those of its full extraction, where the store has it. A
    page of a knowledge graph states its facts itself.
    """
    context = parts.context(state, runtime)
    hop = last_hop(state["hops"])
    cost = Cost("reader", f"to_triples:{hop['index']}")
    new = unread(state)
    last = not may_retrieve(state, context)
    read = await read_hop(state, context, parts, cost, new=new, last=last)
    noted, dropped = _noted(read, state, new)
    pages = pages_triples([state["passages"][id] for id in new])
    texts = [one for one in noted if "triples" not in state["passages"][one["passage"]]]
    extracted, cached = await _with_stored(texts, state, runtime, parts)
    extracted += pages
    graph = merge_triples(state["triples"], to_new_triples(extracted, state["passages"]))
    runtime.stream_writer(
        ExtractedEvent(
            type="extracted",
            hop=hop["index"],
            passages=len(new),
            cached=cached,
            triples=sum(len(one["triples"]) for one in extracted),
            dropped=dropped.total(),
            reasons=dict(+dropped),
        )
    )
    return {
        "extracted": extracted,
        "step": read.step(state, context, graph),
        "usage": cost.usage(),
        **warn(runtime, *read.warnings),
    }


def _noted(read: Read, state: RasState, new: Sequence[str]) -> tuple[list[Extracted], Counter[str]]:
    """Return the facts by the passages that state them, and why others were left out.

    A fact whose number is missing or wrong belongs to the new passages that state it.
    """
    passages = state["passages"]
    by_number = {number: id for id, number in read.numbers.items() if id in passages}
    stated: dict[str, list[Spo]] = {id: [] for id in new}
    dropped: Counter[str] = Counter()

    def homes(spo: Spo, ids: Sequence[str]) -> list[str]:
        return [id for id in ids if is_stated(spo, passages[id]["title"], passages[id]["text"])]

    for fact in read.reply.facts:
        named = [by_number[number] for number in fact.numbers if number in by_number]
        found = homes(fact.spo, named) or homes(fact.spo, new)
        dropped[UNSTATED] += not found
        for id in found:
            stated.setdefault(id, []).append(fact.spo)
    extracted = []
    for id, triples in stated.items():
        kept = refine(triples, passages[id]["title"], passages[id]["text"])
        dropped.update(kept.left_out)
        extracted.append(Extracted(passage=id, triples=[list(spo) for spo in kept.triples]))
    return extracted, dropped


async def _with_stored(
    noted: Sequence[Extracted], state: RasState, runtime: Runtime[Any], parts: PartsSource
) -> tuple[list[Extracted], int]:
    """Add what was extracted of these passages before; return how many that are, too."""
    used = {one["passage"]: state["passages"][one["passage"]] for one in noted if one["triples"]}
    if runtime.store is None or not used:
        return list(noted), 0
    extractor = await parts.get_extractor(parts.context(state, runtime))
    keys = {id: passage_id(each["title"], each["text"]) for id, each in used.items()}
    kept = await TripleCache(runtime.store, extractor.identity).get(list(keys.values()))
    stored = {id: kept[key].triples for id, key in keys.items() if key in kept}
    extracted = []
    for one in noted:
        title, text = (state["passages"][one["passage"]][name] for name in ("title", "text"))
        full = refine(map(as_spo, stored.get(one["passage"], ())), title, text).triples
        ends = {(name_key(s), name_key(o)) for s, _, o in one["triples"]}
        more = [list(spo) for spo in full if (name_key(spo[0]), name_key(spo[2])) not in ends]
        extracted.append(Extracted(passage=one["passage"], triples=one["triples"] + more))
    return extracted, len(stored)
