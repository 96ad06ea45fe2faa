from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.training.triples.scores import (
    LEVELS,
    Prediction,
    Spo,
    match_triples,
    score,
)

match_triples([("a", "b", "c")], [("a", "b", "d")])  # Loads scipy, outside any time limit.

NAME = st.sampled_from(
    ["Oslo", "oslo", "the Oslo fjord", "fjord", "Ann", "Ann Lee", "1,000", "1000"]
)
TRIPLES = st.lists(st.tuples(NAME, NAME, NAME), max_size=6)


@given(TRIPLES, TRIPLES)
def test_bounds_and_symmetry(a: list[Spo], b: list[Spo]) -> None:
    there, back = match_triples(a, b), match_triples(b, a)
    for level in LEVELS:
        precision, recall, f1 = there[level].measures
        assert all(0 <= value <= 1 + 1e-9 for value in (precision, recall, f1))
        assert back[level].measures == pytest.approx((recall, precision, f1))
        assert match_triples(a, a)[level].measures == pytest.approx((1, 1, 1))
    assert there["exact"].matched == len(set(a) & set(b))
    assert there["normalised"].matched <= there["soft"].matched + 1e-9


def test_empty_cases() -> None:
    triple = ("a", "b", "c")
    for predicted, expected, value in (([], [], 1), ([], [triple], 0), ([triple], [], 0)):
        assert match_triples(predicted, expected)["soft"].measures == (value,) * 3


def test_levels_by_hand() -> None:
    expected = [("Ann Lee", "born in", "Oslo"), ("Ann Lee", "born in", "1931")]
    predicted = [("ann lee", "born in", "Oslo"), ("Ann", "born in", "1931"), ("x", "y", "z")]
    found = match_triples(predicted, expected)
    assert found["exact"].matched == 0
    assert found["normalised"].measures[:2] == (1 / 3, 1 / 2)
    assert found["soft"].matched == pytest.approx(1 + (2 / 3 + 1 + 1) / 3)


def test_soft_matching_is_the_best_one_to_one_pairing() -> None:
    # Paired greedily, the first would take what only the second can use.
    predicted = [("a b", "p", "x"), ("a", "p", "y")]
    expected = [("a", "p", "x"), ("a b", "p", "x")]
    assert match_triples(predicted, expected)["soft"].matched == pytest.approx(1 + 2 / 3)


def test_scores_by_source() -> None:
    triple = ("Ann", "met", "Bo")
    outcomes = [
        Prediction("good", [triple], [triple]),
        Prediction("bad", [], [triple], broken=True),
        Prediction("bad", [("She", "met", "Bo")], [triple]),
        Prediction("bad", [], []),
    ]
    scores = score(outcomes)
    assert set(scores) == {"all", "good", "bad"}
    assert scores["good"]["exact_f1"] == scores["good"]["rougeL"] == 1
    bad = scores["bad"]
    assert (bad["unparsable"], bad["broken"], bad["pronoun_subjects"]) == (0.5, 0.3333, 1)
    assert bad["exact_f1"] == 0 < bad["soft_f1"]
    assert scores["all"]["texts"] == 4
    assert scores["all"]["exact_recall"] == 0.3333
    assert 0 < bad["rouge1"] < 1
    assert score([])["all"]["soft_f1"] == 1
