from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ras_flow.errors import InputError
from ras_flow.evaluation.statistics import bootstrap, paired_bootstrap, paired_permutation

SCORES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=9)
MARGINS = st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0])


def test_the_interval_of_a_share_is_that_of_the_binomial() -> None:
    scores = [1.0] * 60 + [0.0] * 140
    found = bootstrap(scores)
    low, high = stats.binom.interval(0.95, 200, 0.3)
    assert found.mean == 0.3
    assert found.low == pytest.approx(low / 200, abs=0.011)
    assert found.high == pytest.approx(high / 200, abs=0.011)


def test_the_interval_is_that_of_scipys_percentile_bootstrap() -> None:
    scores = np.random.default_rng(3).beta(2, 5, 80)
    found = bootstrap(list(scores))
    theirs = stats.bootstrap(
        (scores,), np.mean, confidence_level=0.95, method="percentile", rng=1
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.004)


def test_equal_scores_have_no_interval() -> None:
    assert bootstrap([0.7] * 5).low == pytest.approx(0.7) == bootstrap([0.7] * 5).high


def test_the_same_seed_gives_the_same_numbers() -> None:
    scores = list(np.random.default_rng(0).random(30))
    others = list(np.random.default_rng(1).random(30))
    assert bootstrap(scores, seed=4) == bootstrap(scores, seed=4) != bootstrap(scores, seed=5)
    assert paired_bootstrap(scores, others, seed=4) == paired_bootstrap(scores, others, seed=4)
    p = paired_permutation(scores, others, seed=4)
    assert p == paired_permutation(scores, others, seed=4) != paired_permutation(scores, others)


@pytest.mark.parametrize("few", [1, 70])
def test_how_many_numbers_are_drawn_at_a_time_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    scores = list(np.random.default_rng(0).random(30))
    whole = bootstrap(scores, samples=101)
    monkeypatch.setattr("ras_flow.evaluation.statistics._CHUNK", few)
    assert bootstrap(scores, samples=101) == whole
    assert paired_permutation(scores, [0.0] * 30, samples=101) == 1 / 102


def test_few_pairs_have_their_exact_p() -> None:
    # Five wins out of five: two of the 2^5 signs are as far off.
    assert paired_permutation([1, 1, 1, 1, 1, 0.5], [0, 0, 0, 0, 0, 0.5]) == 2 / 32
    assert paired_permutation([1, 0], [0, 1]) == 1.0
    assert paired_permutation([0.3], [0.3]) == 1.0


@settings(max_examples=40)
@given(st.lists(st.tuples(MARGINS, MARGINS), min_size=2, max_size=8))
def test_the_exact_p_is_scipys(pairs: list[tuple[float, float]]) -> None:
    first, second = zip(*pairs, strict=True)
    theirs = stats.permutation_test(
        (np.array(first), np.array(second)),
        lambda a, b, axis: np.round(np.mean(a - b, axis=axis), 9),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert paired_permutation(first, second) == pytest.approx(theirs.pvalue)


def test_the_sampled_p_is_near_that_of_the_sign_test() -> None:
    # 30 wins to 10 losses by the same margin: the permutation test is the binomial one.
    first, second = [1.0] * 30 + [0.0] * 10, [0.0] * 30 + [1.0] * 10
    expected = stats.binomtest(30, 40).pvalue
    assert paired_permutation(first, second) == pytest.approx(expected, abs=0.0015)


def test_systems_are_compared_question_by_question() -> None:
    # Hard and easy questions: the difference is small but the same everywhere.
    hard = np.random.default_rng(2).choice([0.1, 0.8], 50)
    found = paired_bootstrap(list(hard + 0.1), list(hard))
    assert found.mean == pytest.approx(0.1) == found.low == found.high
    assert paired_permutation(list(hard + 0.1), list(hard)) < 0.001
    assert paired_bootstrap(list(hard), list(hard + 0.1)).mean == pytest.approx(-0.1)


@given(SCORES)
@settings(max_examples=20)
def test_a_system_does_not_differ_from_itself(scores: list[float]) -> None:
    found = paired_bootstrap(scores, scores, samples=200)
    assert (found.mean, found.low, found.high) == (0, 0, 0)
    assert paired_permutation(scores, scores) == 1.0


def test_systems_that_are_alike_seldom_differ() -> None:
    random = np.random.default_rng(7)
    ps = [
        paired_permutation(random.random(40).tolist(), random.random(40).tolist(), samples=500)
        for _ in range(100)
    ]
    assert sum(p < 0.05 for p in ps) <= 12


def test_many_questions_need_little_memory() -> None:
    scores = [0.0, 1.0] * 6_000
    found = bootstrap(scores, samples=200)
    assert found.high - found.low == pytest.approx(4 * 0.5 / 12_000**0.5, rel=0.3)


def test_many_questions_take_little_time_and_have_the_same_intervals_and_p() -> None:
    first = [1.0] * 150_600 + [0.0] * 149_400
    began = time.process_time()
    found, p = bootstrap(first), paired_permutation(first, first[::-1])
    assert time.process_time() - began < 5
    low, high = stats.binom.interval(0.95, 300_000, 0.502)
    assert (found.low, found.high) == pytest.approx((low / 300_000, high / 300_000), abs=1e-4)
    assert found == bootstrap(first) != bootstrap(first, seed=1)
    assert p == 1.0
    # 51,300 wins to 50,700 losses by the same margin: the permutation test is the binomial one.
    wins, losses = [1.0] * 51_300 + [0.0] * 50_700, [0.0] * 51_300 + [1.0] * 50_700
    expected = stats.binomtest(51_300, 102_000).pvalue
    assert paired_permutation(wins, losses) == pytest.approx(expected, abs=0.01)


def test_what_cannot_be_compared_is_told() -> None:
    with pytest.raises(InputError, match="no scores"):
        bootstrap([])
    with pytest.raises(InputError, match="2 scores of one and 1 of the other"):
        paired_permutation([1, 0], [1])


def test_the_order_of_the_questions_does_not_matter() -> None:
    random = np.random.default_rng(3)
    ours, theirs = random.random(120), random.random(120)
    order = random.permutation(120)
    assert bootstrap(ours, seed=1) == bootstrap(ours[order], seed=1)
    ways = [
        paired_permutation(list(ours[rows]), list(theirs[rows]), seed=1)
        for rows in (np.arange(120), order)
    ]
    assert ways[0] == ways[1]
