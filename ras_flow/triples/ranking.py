"""T²RAG's algorithm 2: from propositions by similarity to the passages that they lead to."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from ras_flow.parts.records import FoundTriples, ScoredPassage, ScoredTriple
from ras_flow.state.kg import spo_of, triple_of
from ras_flow.state.schema import Passage, Triple

Hit = tuple[float, int]
"""A cosine and the position of a proposition."""

Search = Callable[[list[int], int], list[list[Hit]]]
"""Positions of queries and a depth to each one's nearest propositions: best first, equal ones by
position, as many as the depth asks for, if they exist."""

DEPTH = 32
"""Propositions that each query is asked for first."""


class Reached(NamedTuple):
    """A proposition, the query that it is nearest to, and the passages that it leads to."""

    score: float
    query: int
    proposition: int
    passages: list[str]


class Ranking(NamedTuple):
    """Propositions, best first, and passages in the order reached with the scores that did it."""

    propositions: list[Reached]
    passages: dict[str, float]


def rank(
    search: Search,
    stated_in: Callable[[int], Sequence[str]],
    skips: Sequence[Collection[str]],
    k: int,
    depth: int = DEPTH,
) -> Ranking:
    """Walk down the propositions of all queries, best first, to the one that brings passage k.

    Each query's list is deepened until what it leaves out cannot matter, so that the result is
    that of comparing all propositions. Only those with a similarity above 0 count.

    Args:
        search: Finds the nearest propositions.
        stated_in: The ids of the passages that state a proposition.
        skips: Passages that do not count, for each query.
        k: Passages at most.
        depth: Propositions that each query is asked for first.

    Returns:
        Each proposition has its best score; equal scores are ordered by query, then by position.
    """
    lists: list[list[Hit]] = [[] for _ in skips]
    found = Ranking([], {})
    unsure = list(range(len(skips)))
    while unsure:
        for query, hits in zip(unsure, search(unsure, depth), strict=True):
            lists[query] = hits
        found = _walk(lists, stated_in, skips, k)
        # The k-th passage's proposition, or any with a similarity: what is below does not count.
        full = len(found.passages) == k
        last = min(found.passages.values()) if full else sys.float_info.min
        unsure = [
            query for query in unsure if len(lists[query]) >= depth and lists[query][-1][0] >= last
        ]
        depth *= 4
    return found


def _walk(
    lists: Sequence[Sequence[Hit]],
    stated_in: Callable[[int], Sequence[str]],
    skips: Sequence[Collection[str]],
    k: int,
) -> Ranking:
    pooled = sorted((-score, query, at) for query, hits in enumerate(lists) for score, at in hits)
    reached: dict[int, Reached] = {}
    passages: dict[str, float] = {}
    for negative, query, at in pooled:
        if negative >= 0 or len(passages) == k:
            break
        for id in stated_in(at):
            if id in skips[query] or (id not in passages and len(passages) == k):
                continue
            passages.setdefault(id, -negative)
            one = reached.setdefault(at, Reached(-negative, query, at, []))
            if id not in one.passages:
                one.passages.append(id)
    return Ranking(list(reached.values()), passages)


def as_found(
    ranking: Ranking,
    triples: Sequence[Triple],
    passage_of: Callable[[str], Passage],
) -> FoundTriples:
    """Return passages and triples; a triple names those of its passages that it leads to."""
    return FoundTriples(
        [ScoredPassage(passage_of(id), round(score, 6)) for id, score in ranking.passages.items()],
        [
            ScoredTriple(
                triple_of(spo_of(triples[one.proposition]), one.passages),
                round(one.score, 6),
                one.query,
            )
            for one in ranking.propositions
        ],
    )


def proposition(triple: Triple) -> str:
    """Return a triple as one text."""
    return " ".join(spo_of(triple))
