"""T²RAG, and the baseline that finds passages by their text (table 5): the same graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Any

from ras_flow.builder import SystemBuilder
from ras_flow.errors import ConfigurationError
from ras_flow.evaluation.systems.registry import Ingredients
from ras_flow.parts.protocols import Retriever
from ras_flow.parts.records import FoundTriples, ScoredPassage, TripleQuery
from ras_flow.t2rag.graph import SYSTEM


def whole(given: Ingredients) -> SystemBuilder[Any]:
    """Build T²RAG; some ablations are settings alone."""
    return SYSTEM.build(given.parts)


def over_chunks(given: Ingredients) -> SystemBuilder[Any]:
    """Build T²RAG over passages without propositions."""
    if given.parts.retriever is None:
        raise ConfigurationError("This baseline searches passages: name an index.")
    searched = ChunkRetriever(given.parts.retriever)
    return SYSTEM.build(replace(given.parts, triple_retriever=searched))


class ChunkRetriever:
    """Finds passages by what clues say, the best of each clue in turn."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever
        self.identity = f"chunks({retriever.identity})"

    async def find(self, queries: Sequence[TripleQuery], k: int) -> FoundTriples:
        """Find passages alone; those that a query has read already do not count."""
        most = k + max((len(query.skip) for query in queries), default=0)
        found = await self._retriever.retrieve([query.text for query in queries], most)
        new = [
            [one for one in ranking if one.passage["id"] not in query.skip]
            for query, ranking in zip(queries, found, strict=True)
        ]
        best: dict[str, ScoredPassage] = {}
        for one in filter(None, chain.from_iterable(zip_longest(*new))):
            best.setdefault(one.passage["id"], one)
        return FoundTriples(passages=list(best.values())[:k])
