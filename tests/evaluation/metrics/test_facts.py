from __future__ import annotations

import pytest

from ras_flow.evaluation.metrics.facts import chain_coverage, fact_measures, outside

CARBON = ("Carbon", "symbol", "C")
GOLD = [("Ada", "mother", "Annabella"), ("Annabella", "born in", "London")]
FOUND = [
    CARBON,
    ("ada", "mother", "Annabella"),
    *[("Ada", "knows", str(n)) for n in range(5)],
    GOLD[1],
]


def test_facts_and_answers_among_the_best() -> None:
    found = fact_measures(FOUND, GOLD, [("London", "Greater London"), ("Kent",)])
    assert (found["fact_recall"], found["fact_precision"]) == (1, 2 / 8)
    assert (found["fact_recall@5"], found["fact_precision@5"]) == (1 / 2, 1 / 5)
    assert (found["answer_recall"], found["answer_precision"]) == (1 / 2, 1 / 8)
    assert found["answer_recall@5"] == found["answer_precision@5"] == 0
    # Fewer facts than asked for: precision is that of those found.
    assert found["fact_precision@20"] == 2 / 8
    nothing = fact_measures([], GOLD, [("London",)])
    assert set(nothing.values()) == {0.0}
    assert "fact_recall" not in fact_measures(FOUND, [], [("London",)])


def test_chains_and_what_no_fact_has() -> None:
    assert chain_coverage([GOLD[0], CARBON], GOLD) == 1 / 2
    assert outside(["London", "Paris", "C"], FOUND) == pytest.approx(1 / 3)
    assert outside([], FOUND) == 0
