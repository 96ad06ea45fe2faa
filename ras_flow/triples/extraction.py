"""Passages to refined triples: from the cache, and the rest from the extractor (eq. 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ras_flow.errors import ModelUnavailableError
from ras_flow.formats.quality import Refined, refine
from ras_flow.formats.text import scrub
from ras_flow.parts.checks import one_each
from ras_flow.parts.protocols import Extractor
from ras_flow.parts.records import Extraction
from ras_flow.state.kg import as_spo
from ras_flow.state.schema import Extracted, Passage, name_of, passage_id
from ras_flow.support.concurrency import all_or_none, off_loop
from ras_flow.triples.cache import TripleCache


@dataclass(frozen=True)
class Made:
    """What was made of passages, by id: from the cache, just now, and what of it is refined."""

    known: Mapping[str, Extraction] = field(default_factory=dict)
    fresh: Mapping[str, Extraction] = field(default_factory=dict)
    refined: Mapping[str, Refined] = field(default_factory=dict)

    def problems(self, passages: Sequence[Passage]) -> list[str]:
        """Say which passages could not be extracted, and why."""
        return [
            f"{'Not all' if made.triples else 'No'} triples from passage {name_of(passage)!r}: "
            f"{scrub(made.error)}"
            for passage in passages
            if (made := self.fresh.get(passage["id"])) and made.error is not None
        ]


async def extract(passages: Sequence[Passage], extractor: Extractor, cache: TripleCache) -> Made:
    """Extract passages that the cache does not know; a model out of reach fails its batch alone.

    A batch's triples are kept as soon as they are there, as they were extracted.
    """
    # An edit may have changed a passage's text and not its id, which is shared with other runs.
    keys = {passage["id"]: passage_id(passage["title"], passage["text"]) for passage in passages}
    stored = await cache.get(list(keys.values()))
    known = {id: stored[key] for id, key in keys.items() if key in stored}

    async def ask(texts: Sequence[Passage]) -> Sequence[Extraction]:
        return await one_each(len(texts), Extraction, extractor.extract(texts), extractor)

    async def make(batch: Sequence[Passage]) -> dict[str, Extraction]:
        by_content: list[Passage] = [{**passage, "id": keys[passage["id"]]} for passage in batch]
        try:
            made = await cache.extract(by_content, ask)
        except ModelUnavailableError as error:
            made = [Extraction([], error=str(error))] * len(batch)
        return {passage["id"]: one for passage, one in zip(batch, made, strict=True)}

    missing = [passage for passage in passages if passage["id"] not in known]
    fresh: dict[str, Extraction] = {}
    size = extractor.batch_size
    batches = (missing[start : start + size] for start in range(0, len(missing), size))
    for made in await all_or_none(map(make, batches)):
        fresh.update(made)
    found = sum(len(made.triples) for made in (*known.values(), *fresh.values()))
    return Made(known, fresh, await off_loop(found, refine_all, passages, {**known, **fresh}))


def refine_all(
    passages: Sequence[Passage], extractions: Mapping[str, Extraction]
) -> dict[str, Refined]:
    """Refine what was extracted of each passage."""
    return {
        passage["id"]: refine(
            map(as_spo, extractions[passage["id"]].triples), passage["title"], passage["text"]
        )
        for passage in passages
    }


def as_extracted(refined: Mapping[str, Refined]) -> list[Extracted]:
    """Return refined triples as the state has them."""
    return [
        Extracted(passage=id, triples=[list(triple) for triple in kept.triples])
        for id, kept in refined.items()
    ]


def pages_triples(passages: Iterable[Passage]) -> list[Extracted]:
    """Return what the pages of knowledge graphs among passages state, as they state it."""
    return [
        Extracted(passage=passage["id"], triples=passage["triples"])
        for passage in passages
        if "triples" in passage
    ]
