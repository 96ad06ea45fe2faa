from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ras_flow.evaluation.statistics import bootstrap, compare_paired


def test_the_interval_of_a_share_is_that_of_the_binomial() -> None:
    found = bootstrap([1.0] * 60 + [0.0] * 140)
    low, high = stats.binom.interval(0.95, 200, 0.3)
    assert found.mean == 0.3
    assert (found.low, found.high) == pytest.approx((low / 200, high / 200), abs=0.011)


def test_results_depend_on_the_seed_and_not_on_the_order_of_the_questions() -> None:
    random = np.random.default_rng(3)
    ours, theirs, order = random.random(40), random.random(40), random.permutation(40)
    assert bootstrap(ours, seed=4) == bootstrap(ours[order], seed=4) != bootstrap(ours, seed=5)
    found = compare_paired(ours, theirs, seed=4)
    assert found == compare_paired(ours[order], theirs[order], seed=4)
    other = compare_paired(ours, theirs, seed=5)
    assert found.p != other.p and found.low != other.low


@pytest.mark.parametrize(
    ("first", "second", "p"),
    [
        # Five wins out of five: two of the 2^5 signs are as far off.
        ([1, 1, 1, 1, 1, 0.5], [0, 0, 0, 0, 0, 0.5], 2 / 32),
        ([1, 0], [0, 1], 1.0),
        ([1, 0.5], [0, 0.5], 1.0),
        ([0.3], [0.3], 1.0),
        # 0.8 - 0.7 and 0.2 - 0.1 are equal gaps, whatever their last digits.
        ([0.8, 0.2, 0.1], [0.7, 0.1, 0.2], 1.0),
    ],
)
def test_few_pairs_have_their_exact_p(first: list[float], second: list[float], p: float) -> None:
    assert compare_paired(first, second).p == pytest.approx(p)


def test_systems_are_compared_question_by_question() -> None:
    # Hard and easy questions: the difference is small but the same everywhere.
    hard = np.random.default_rng(2).choice([0.1, 0.8], 50)
    found = compare_paired(hard + 0.1, hard)
    assert (found.mean, found.low, found.high) == pytest.approx((0.1, 0.1, 0.1))
    assert found.p < 0.001
    assert compare_paired(hard, hard + 0.1).mean == pytest.approx(-0.1)
