"""Which passages of other questions are drawn as distractors."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

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


@pytest.mark.parametrize("query", ["Who was it?", "", "???", "zzz"])
def test_words_that_ask_or_are_unknown_find_any_page(query: str) -> None:
    assert {pages[0] for pages in drawn(query)} == {*FILMS, RIVER}


def test_pages_are_drawn_once_and_none_that_is_refused() -> None:
    for pages in drawn("river", 9, refuse=RIVER.__eq__):
        assert {*pages} <= {*FILMS} and len({*pages}) == len(pages) > 2
    assert drawn("river", 0) == [[]] * 40


def test_what_has_no_triples_is_no_distractor() -> None:
    assert POOL.pages == [*FILMS, RIVER]
    nothing = Pool([Page("Empty", ())])
    assert nothing.draw("river", 3, Random(1), related=1.0, refuse=lambda page: False) == []


def test_of_pages_that_are_equally_near_the_first_are_drawn() -> None:
    # Which of them a partial sort finds differs from machine to machine, and so would the records.
    same = [Page(f"P{n}", ((f"P{n}", "mouth", "Sea"),)) for n in range(500)]
    pages = Pool(same).draw("mouth?", 24, Random(1), related=1.0, refuse=lambda page: False)
    assert {*pages} <= {*same[:24]}
