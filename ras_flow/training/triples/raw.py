"""What an extractor made of texts; a cache lets a measurement go on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import sha256

from pydantic import TypeAdapter

from ras_flow.datasets.facts import FactPassage
from ras_flow.formats.quality import RULES, Rule, refine
from ras_flow.parts.protocols import Extractor
from ras_flow.parts.records import Extraction
from ras_flow.state.schema import Passage, make_passage
from ras_flow.support.calls import CallCache, Value
from ras_flow.training.run import Logger
from ras_flow.training.triples.examples import Example

AT_ONCE = 32
"""Texts in one call of the extractor, or a batch of it; what is made of them is kept together."""

NAMESPACE = ("ras_flow", "measured")

_EXTRACTION = TypeAdapter(Extraction)


def passage_of(example: Example) -> Passage:
    """Return the passage that an extractor is given for an example."""
    return make_passage(example.title, example.text)


def passages_of(examples: Iterable[Example], facts: Iterable[FactPassage]) -> list[Passage]:
    """Return the passages of the untouched part, then those with answer-bearing facts."""
    return [*map(passage_of, examples), *(stated.passage for stated in facts)]


def refined(
    extraction: Extraction, passage: Passage, rules: Mapping[str, Rule] = RULES
) -> Extraction:
    """Return an extraction with the triples that enter the graph."""
    kept = refine(extraction.triples, passage["title"], passage["text"], rules)
    return replace(extraction, triples=kept.triples)


async def extract_raw(
    extractor: Extractor,
    passages: Sequence[Passage],
    cache: CallCache,
    log: Logger = lambda _: None,
) -> dict[str, Extraction]:
    """Extract passages that the cache lacks; what cannot be read is a result, too, and kept."""
    namespace = (*NAMESPACE, sha256(extractor.identity.encode()).hexdigest()[:16])
    wanted = list({passage["id"]: passage for passage in passages}.values())
    found: dict[str, Extraction] = {}
    some: list[Passage] = []

    async def make(missing: list[int]) -> list[Value]:
        return [asdict(one) for one in await extractor.extract([some[at] for at in missing])]

    step = max(AT_ONCE, extractor.batch_size)
    for start in range(0, len(wanted), step):
        some = wanted[start : start + step]
        places = [(namespace, passage["id"]) for passage in some]
        values = await cache.get_or_make(places, make, _is_result)
        for passage, value in zip(some, values, strict=True):
            found[passage["id"]] = _EXTRACTION.validate_python(value)
        log(f"{len(found)} of {len(wanted)} texts")
    return found


def _is_result(made: Value) -> bool:
    return made["error"] is None or (made["output_tokens"] > 0 and not made["left"])
