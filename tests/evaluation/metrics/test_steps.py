from __future__ import annotations

import pytest

from ras_flow.evaluation.metrics.steps import label_accuracy, subquery_f1
from ras_flow.evaluation.question import Support

GOLD = [
    Support("Salt Road", subquery="Who directed Salt Road?"),
    Support("Aino Laine", subquery="When was Aino Laine born?"),
    Support("Oulu"),
]


def test_a_planner_should_go_on_until_all_support_is_found() -> None:
    assert label_accuracy(["SUBQ", "SUFFICIENT"], [False, True]) == 1.0
    assert label_accuracy(["SUFFICIENT"], [False]) == 0.0
    assert label_accuracy(["SUBQ", "SUBQ"], [True, True, True]) == 0.0
    assert label_accuracy([None, "SUFFICIENT"], [False, True]) == 0.5
    # After a search, [NO_RETRIEVAL] ends it too.
    assert label_accuracy(["SUBQ", "NO_RETRIEVAL"], [False, True]) == 1.0
    assert label_accuracy(["NO_RETRIEVAL"], [False]) == 0.0
    assert label_accuracy([], [True]) is None


def test_subqueries_are_paired_with_the_gold_ones() -> None:
    asked = ["When was Aino Laine born?", "Who directed Salt Road?"]
    assert subquery_f1(asked, GOLD) == 1.0
    # One that is missing, and one too many.
    assert subquery_f1(asked[:1], GOLD) == pytest.approx(2 / 3)
    assert subquery_f1([*asked, "Is it wet?"], GOLD) == pytest.approx(4 / 5)
    # The same one twice is paired once.
    assert subquery_f1([asked[0], asked[0]], GOLD[1:]) == pytest.approx(2 / 3)
    # A step that rests on two documents is one.
    assert subquery_f1(asked, [*GOLD, GOLD[0]]) == 1.0


def test_the_best_pairing_counts_and_not_the_first() -> None:
    gold = [Support("", subquery="aino laine"), Support("", subquery="aino laine born")]
    # Taken greedily, "aino laine born" would go to the first and leave nothing for "born".
    assert subquery_f1(["aino laine born", "laine"], gold) == pytest.approx((1 + 2 / 3) * 2 / 4)


def test_subqueries_without_gold_or_without_any() -> None:
    assert subquery_f1(["Who?"], [Support("Oulu")]) is None
    assert subquery_f1([], GOLD) == 0.0
