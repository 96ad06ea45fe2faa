"""Which passages of other questions are drawn as distractors."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from recipes.graph_llm.case import Page
from recipes.graph_llm.pool import Pool

RIVER = Page("River Aa", (("River Aa", "was", "long"),))
FILMS = [Page(f"Film {n}", ((f"Film {n}", "director", f"Person {n}"),)) for n in range(5)]
POOL = Pool([*FILMS, RIVER, FILMS[0], Page("Empty", ())])


def drawn(
    query: str,
    count: int = 1,
    *,
    related: float = 1.0,
    refuse: Callable[[Page], bool] = lambda page: False,
) -> list[list[Page]]:
    """What is drawn in forty runs."""
    return [
        POOL.draw(query, count, Random(seed), related=related, refuse=refuse) for seed in range(40)
    ]


def test_what_looks_like_an_answer_is_drawn_as_often_as_asked() -> None:
    assert drawn("Which river is it?") == [[RIVER]] * 40
    by_chance = [pages[0] for pages in drawn("Which river is it?", related=0.0)]
    assert {*by_chance} == {*FILMS, RIVER}


def test_pages_are_drawn_once_and_none_that_is_refused() -> None:
    for pages in drawn("river", 9, refuse=RIVER.__eq__):
        assert {*pages} <= {*FILMS} and len({*pages}) == len(pages) > 2
    assert drawn("river", 0) == [[]] * 40
