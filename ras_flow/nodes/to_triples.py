"""to_triples: turn the hop's new passages into triples (eq. 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph.runtime import Runtime

from ras_flow.errors import InputError, ModelUnavailableError
from ras_flow.events import ExtractedEvent
from ras_flow.formats.quality import Refined, refine
from ras_flow.formats.text import scrub
from ras_flow.nodes.warn import warn
from ras_flow.parts.checks import one_each
from ras_flow.parts.protocols import Extractor
from ras_flow.parts.records import Extraction
from ras_flow.parts.source import PartsSource
from ras_flow.state.channels import RunState
from ras_flow.state.kg import as_spo, last_hop, read_in
from ras_flow.state.schema import Extracted, Passage, name_of, passage_id
from ras_flow.state.usage import Cost
from ras_flow.support.concurrency import all_or_none, off_loop
from ras_flow.triples.cache import TripleCache


async def to_triples(state: RunState, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Extract every passage of the last hop that no earlier hop has read.

    A page of a knowledge graph states its triples itself: no model is asked, and nothing refined.

    A batch's triples are put into the store as soon as they are there, so that a run that is
    killed here asks for none of them again. The store keeps them as extracted; what enters the
    graph is refined by :mod:`ras_flow.formats.quality`.
    """
    earlier, hop = state["hops"][:-1], last_hop(state["hops"])
    seen = {passage for each in earlier for passage in read_in(each)}
    new = [_passage(state, id) for id in hop["passages"] if id not in seen]
    context = parts.context(state, runtime)
    keeps_text = parts.keeps_text(context)
    cost = Cost("extractor", f"to_triples:{hop['index']}")
    stated = pages_triples(new)
    texts = [passage for passage in new if "triples" not in passage]
    known: dict[str, Extraction] = {}
    fresh: dict[str, Extraction] = {}
    if texts:
        extractor = await parts.get_extractor(context)
        cache = TripleCache(None if keeps_text else runtime.store, extractor.identity)
        known, fresh = await _extract(texts, extractor, cache)
    warnings = [
        f"{'Not all' if made.triples else 'No'} triples from passage "
        f"{name_of(state['passages'][id])!r}: {scrub(made.error)}"
        for id, made in fresh.items()
        if made.error is not None
    ]
    warned = warn(runtime, *warnings)
    for made in () if keeps_text else fresh.values():
        cost.add(made, made.calls)
    made_of = known | fresh
    found = sum(len(made.triples) for made in made_of.values())
    refined = await off_loop(found, _refine, texts, made_of)
    dropped = Counter(unreadable=sum(len(made.dropped) for made in fresh.values()))
    for kept in refined.values():
        dropped.update(kept.left_out)
    extracted = [
        Extracted(passage=id, triples=[list(triple) for triple in kept.triples])
        for id, kept in refined.items()
    ]
    extracted += stated
    runtime.stream_writer(
        ExtractedEvent(
            type="extracted",
            hop=hop["index"],
            passages=len(new),
            cached=len(known),
            triples=sum(len(one["triples"]) for one in extracted),
            dropped=dropped.total(),
            reasons=dict(+dropped),
        )
    )
    update = {"extracted": extracted, "usage": cost.usage(), **warned}
    failed = [id for id, made in fresh.items() if made.error is not None and not made.triples]
    if failed != hop.get("failed", []):
        update["hops"] = [{"index": hop["index"], "failed": failed}]
    return update


def pages_triples(passages: Sequence[Passage]) -> list[Extracted]:
    """Return what the pages of knowledge graphs among passages state, as they state it."""
    return [
        Extracted(passage=passage["id"], triples=passage["triples"])
        for passage in passages
        if "triples" in passage
    ]


async def _extract(
    passages: Sequence[Passage], extractor: Extractor, cache: TripleCache
) -> tuple[dict[str, Extraction], dict[str, Extraction]]:
    """Return what the cache knows of passages, and what is made of the others, by passage id."""
    # An edit may have changed a passage's text and not its id, which is shared with other runs.
    keys = {passage["id"]: passage_id(passage["title"], passage["text"]) for passage in passages}
    stored = await cache.get(list(keys.values()))
    known = {id: stored[key] for id, key in keys.items() if key in stored}

    async def ask(texts: Sequence[Passage]) -> Sequence[Extraction]:
        return await one_each(len(texts), Extraction, extractor.extract(texts), extractor)

    async def extract(batch: tuple[Passage, ...]) -> dict[str, Extraction]:
        by_content: list[Passage] = [{**passage, "id": keys[passage["id"]]} for passage in batch]
        try:
            made = await cache.extract(by_content, ask)
        except ModelUnavailableError as error:
            made = [Extraction([], error=str(error))] * len(batch)
        return {passage["id"]: one for passage, one in zip(batch, made, strict=True)}

    missing = [passage for passage in passages if passage["id"] not in known]
    fresh: dict[str, Extraction] = {}
    for made in await all_or_none(map(extract, batches(missing, extractor.batch_size))):
        fresh.update(made)
    return known, fresh


def _passage(state: RunState, id: str) -> Passage:
    if id not in state["passages"]:
        raise InputError(
            f"The state's hop {state['hops'][-1]['index']} names the passage {id!r}, which the "
            "state does not have: add it to `passages`, or take it and its score out of the hop."
        )
    return state["passages"][id]


def _refine(
    passages: Sequence[Passage], extractions: Mapping[str, Extraction]
) -> dict[str, Refined]:
    refined = {}
    for passage in passages:
        triples = map(as_spo, extractions[passage["id"]].triples)
        refined[passage["id"]] = refine(triples, passage["title"], passage["text"])
    return refined


def batches(passages: list[Passage], size: int) -> list[tuple[Passage, ...]]:
    """Split passages into batches of at most ``size``."""
    return [tuple(passages[i : i + size]) for i in range(0, len(passages), size)]
