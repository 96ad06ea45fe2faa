"""Eq. 3 with several retrievers at once, joined by reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Sequence

from ras_flow.indexes.queries import check_queries
from ras_flow.parts.protocols import Retriever
from ras_flow.parts.records import ScoredPassage
from ras_flow.support.concurrency import all_or_none

RANK_OFFSET = 60
"""The constant k of reciprocal rank fusion (Cormack et al., 2009)."""

DEPTH = 50
"""Passages that each retriever contributes at least."""


class HybridRetriever:
    """Scores a passage by the sum of 1 / (60 + rank) over the retrievers that found it."""

    def __init__(self, retrievers: Sequence[Retriever]) -> None:
        self.identity = f"hybrid({'+'.join(retriever.identity for retriever in retrievers)})"
        self._retrievers = list(retrievers)

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        """Return at most k passages for each query, best first; equal scores by passage id."""
        check_queries(queries, k)
        found = await all_or_none(
            retriever.retrieve(queries, max(k, DEPTH)) for retriever in self._retrievers
        )
        return [_fuse(rankings)[:k] for rankings in zip(*found, strict=True)]


def _fuse(rankings: Sequence[Sequence[ScoredPassage]]) -> list[ScoredPassage]:
    passages = {}
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, (passage, _) in enumerate(ranking, start=1):
            passages[passage["id"]] = passage
            scores[passage["id"]] = scores.get(passage["id"], 0.0) + 1 / (RANK_OFFSET + rank)
    best = sorted(scores, key=lambda key: (-scores[key], key))
    return [ScoredPassage(passages[key], scores[key]) for key in best]
