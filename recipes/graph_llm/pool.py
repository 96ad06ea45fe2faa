"""Passages of other questions of the same split, from which distractors are drawn.

A retriever returns what looks like an answer: other films with a director, other rivers with a
mouth. So most distractors are the passages that BM25 ranks highest for the subquery; some are
drawn at random, as small or mixed corpora return them. A pool holds one split only: training never
shows a passage that development questions alone have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from ras_flow.formats.tokens import tokenize
from ras_flow.formats.triples import Spo
from ras_flow.indexes.bm25 import best, build_bm25
from ras_flow.state.schema import Passage
from recipes.graph_llm.case import Page
from recipes.graph_llm.kin import Kin

DEPTH = 24
"""How many of BM25's best are distractors that look like an answer."""

_ASKING = frozenset(
    "what who whom whose which when where why how is are was were do does did the a an in".split()
)
"""In a pool without many questions these words are rare, and would decide what is found."""


class Pool:
    """Passages as triples, with search.

    Attributes:
        pages: The passages.
        kin: Makes up facts.
    """

    def __init__(self, pages: Iterable[Page], facts: Iterable[Spo] = ()) -> None:
        self.kin = Kin(facts)
        self.pages = list(dict.fromkeys(page for page in pages if page.triples))
        self._engine: Any = build_bm25(
            Passage(id="", title=page.title, text=" ".join(map(" ".join, page.triples)))
            for page in self.pages
        )

    def draw(
        self,
        query: str,
        count: int,
        rng: Random,
        *,
        related: float,
        refuse: Callable[[Page], bool],
    ) -> list[Page]:
        """Draw distractors."""
        drawn: dict[Page, None] = {}
        near = [page for page in self._search(query) if not refuse(page)] if count else []
        for _ in range(4 * count):
            if len(drawn) == count or not self.pages:
                break
            if near and rng.random() < related:
                # Twice the better of two: higher ranks come more often.
                page = near.pop(min(rng.randrange(len(near)), rng.randrange(len(near))))
            else:
                page = self.pages[rng.randrange(len(self.pages))]
            if not refuse(page):
                drawn[page] = None
        return list(drawn)

    def _search(self, query: str) -> list[Page]:
        wanted = [term for term in tokenize(query) if term not in _ASKING]
        terms = self._engine.get_tokens_ids(wanted) if self._engine else []
        if not terms:
            return []
        scores = self._engine.get_scores_from_ids(terms)
        return [self.pages[at] for at in best(scores, DEPTH).tolist()]
