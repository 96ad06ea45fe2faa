"""What the shipped extractor made of the demo corpus: nobody waits for it to be made again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from ras_flow.demo import json_lines
from ras_flow.parts.protocols import Extractor
from ras_flow.parts.records import Extraction
from ras_flow.state.kg import as_spo
from ras_flow.state.schema import Passage

FILE = "triples.jsonl"
"""Lines as `ras-flow triples export` writes them after `precompute demo`: passage id, extractor,
triples. A passage that the extractor could not read has a line without triples."""


class DemoExtractor:
    """An extractor that is asked only about passages whose triples do not ship.

    Args:
        extractor: The one to ask.
    """

    def __init__(self, extractor: Extractor) -> None:
        self.identity = extractor.identity
        self.batch_size = extractor.batch_size
        self._extractor = extractor

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """Return what ships, at no cost, and extract the rest."""
        known = shipped(self.identity)
        rest = [passage for passage in passages if passage["id"] not in known]
        made = iter(await self._extractor.extract(rest) if rest else [])
        return [known.get(passage["id"]) or next(made) for passage in passages]


class ShippedTriples:
    """The triples that ship of one extractor, as a cache holds them."""

    def __init__(self, extractor: str) -> None:
        self._known = shipped(extractor)

    async def get(self, passages: Sequence[str]) -> dict[str, Extraction]:
        """Return the extractions of these passages."""
        return {id: self._known[id] for id in passages if id in self._known}


def shipped(extractor: str) -> Mapping[str, Extraction]:
    """Return what ships of an extractor, by passage; nothing for any but the shipped one."""
    return _all().get(extractor, {})


@lru_cache(maxsize=1)
def _all() -> Mapping[str, Mapping[str, Extraction]]:
    found: dict[str, dict[str, Extraction]] = {}
    for line in json_lines(FILE):
        triples = [as_spo(triple) for triple in line["triples"]]
        found.setdefault(line["extractor"], {})[line["passage"]] = Extraction(triples, calls=0)
    return found
