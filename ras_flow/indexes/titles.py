"""Passages with a title that the query names, ranked above others that share as many words.

In "When was the director of The Ritz born?" the words "when", "was", "director" and "born" find
hundreds of people, and one page is called "The Ritz (film)".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import lru_cache

from ras_flow.formats.headings import ABOVE
from ras_flow.formats.titles import short_title
from ras_flow.formats.tokens import words_of
from ras_flow.parts.records import ScoredPassage

DEPTH = 50
"""Passages that are looked at, best first; 100 find next to nothing more on other questions."""

LONGEST = 200
"""Characters of a title that can be a name; the terms of names are kept."""

REST = 0.5
"""The share of a heading's bonus for all but the best passage under it."""


def named_first(
    found: Sequence[ScoredPassage],
    query: Collection[str],
    rarity: Callable[[Collection[str]], float],
) -> list[ScoredPassage]:
    """Raise the score of passages whose title, or a heading above them, is in the query's words.

    The best passage under a heading gets the whole bonus and the others half: enough to find the
    end of a long page, too little to push out all that is named beside it.
    """
    words, seen = set(query), set[str]()
    raised = []
    for passage, score in found:
        for title in passage["title"].split(ABOVE):
            terms = _name(title) if len(title) <= LONGEST else frozenset()
            if terms and terms <= words:
                score += rarity(terms) * (REST if title in seen else 1)
                seen.add(title)
        raised.append(ScoredPassage(passage, score))
    return sorted(raised, key=lambda one: -one.score)


@lru_cache(maxsize=10_000)
def _name(title: str) -> frozenset[str]:
    """Return the terms of a title without its qualifier: "(film)" is seldom said."""
    return frozenset(words_of(short_title(title)))
