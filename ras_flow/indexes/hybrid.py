"""Eq. 3 with BM25 and dense retrieval at once, joined by their scores."""

from __future__ import annotations

from collections.abc import Sequence

from ras_flow.indexes.queries import check_queries
from ras_flow.parts.protocols import Retriever
from ras_flow.parts.records import ScoredPassage
from ras_flow.support.concurrency import all_or_none

DEPTH = 50
"""Passages that each retriever contributes at least."""


class HybridRetriever:
    """Scores a passage by the mean of its share of the best BM25 score and of its cosine.

    A convex combination of scores (Bruch et al., 2022) keeps by how much one passage is ahead,
    which a fusion of ranks forgets.

    Args:
        bm25: Scores passages by words.
        dense: Scores passages by the cosine of vectors, at most 1.
    """

    def __init__(self, bm25: Retriever, dense: Retriever) -> None:
        self.identity = f"hybrid({bm25.identity}+{dense.identity})"
        self._retrievers = (bm25, dense)

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        """Return at most k passages for each query, best first; equal scores by passage id."""
        check_queries(queries, k)
        by_words, by_meaning = await all_or_none(
            retriever.retrieve(queries, max(k, DEPTH)) for retriever in self._retrievers
        )
        return [_fuse(*both)[:k] for both in zip(by_words, by_meaning, strict=True)]


def _fuse(
    by_words: Sequence[ScoredPassage], by_meaning: Sequence[ScoredPassage]
) -> list[ScoredPassage]:
    passages = {one.passage["id"]: one.passage for one in (*by_words, *by_meaning)}
    scores = dict.fromkeys(passages, 0.0)
    for passage, score in by_words:
        scores[passage["id"]] += score / by_words[0].score / 2
    for passage, cosine in by_meaning:
        scores[passage["id"]] += max(cosine, 0.0) / 2
    best = sorted(scores, key=lambda key: (-scores[key], key))
    return [ScoredPassage(passages[key], scores[key]) for key in best]
