"""T²RAG's algorithm 2: from propositions by similarity to the passages that they lead to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from functools import cache

from ras_flow.parts.records import FoundTriples, ScoredPassage, ScoredTriple
from ras_flow.state.kg import spo_of, triple_of
from ras_flow.state.schema import Passage, Triple

Hit = tuple[float, int]
"""A cosine and the position of a proposition."""

Search = Callable[[list[int], int], list[list[Hit]]]
"""Takes positions of queries and a depth, and returns that many nearest propositions for each, or
all there are: best first, equal ones by position."""

_Reached = tuple[float, int, list[str]]
"""Of a proposition: its score, the query that it is nearest to, the passages that it leads to."""

DEPTH = 32
"""Propositions that each query is asked for first."""


def rank(
    search: Search,
    triples: Sequence[Triple],
    passage_of: Callable[[str], Passage | None],
    skips: Sequence[Collection[str]],
    k: int,
    depth: int = DEPTH,
) -> FoundTriples:
    """Walk down the propositions of all queries, best first, to the one that brings passage k.

    Each query's list is deepened until what it leaves out cannot matter, so that the result is
    that of comparing all propositions. Only those with a similarity above 0 count. Each has its
    best score; equal ones are ordered by query, then by position. Passages that are None or among
    a query's ``skips`` do not count.
    """
    lists: list[list[Hit]] = [[] for _ in skips]
    passage_of = cache(passage_of)
    unsure = list(range(len(skips)))
    scores: dict[str, float] = {}
    reached: dict[int, _Reached] = {}
    while unsure:
        for query, hits in zip(unsure, search(unsure, depth), strict=True):
            lists[query] = hits
        scores, reached = _walk(lists, triples, passage_of, skips, k)
        # The k-th passage's proposition, or any with a similarity: what is below does not count.
        last = min(scores.values()) if len(scores) == k else sys.float_info.min
        unsure = [
            query for query in unsure if len(lists[query]) >= depth and lists[query][-1][0] >= last
        ]
        depth *= 4
    found = ((passage_of(id), score) for id, score in scores.items())
    return FoundTriples(
        [ScoredPassage(passage, round(score, 6)) for passage, score in found if passage],
        [
            ScoredTriple(triple_of(spo_of(triples[at]), ids), round(score, 6), query)
            for at, (score, query, ids) in reached.items()
        ],
    )


def _walk(
    lists: Sequence[Sequence[Hit]],
    triples: Sequence[Triple],
    passage_of: Callable[[str], Passage | None],
    skips: Sequence[Collection[str]],
    k: int,
) -> tuple[dict[str, float], dict[int, _Reached]]:
    """Return the passages reached with their scores, and the propositions that led there."""
    pooled = sorted((-score, query, at) for query, hits in enumerate(lists) for score, at in hits)
    scores: dict[str, float] = {}
    reached: dict[int, _Reached] = {}
    for negative, query, at in pooled:
        if negative >= 0 or len(scores) == k:
            break
        for id in triples[at]["passages"]:
            full = id not in scores and len(scores) == k
            if full or id in skips[query] or passage_of(id) is None:
                continue
            scores.setdefault(id, -negative)
            leads_to = reached.setdefault(at, (-negative, query, []))[2]
            if id not in leads_to:
                leads_to.append(id)
    return scores, reached


def proposition(triple: Triple) -> str:
    """Return a triple as one text."""
    return " ".join(spo_of(triple))
