"""Support against being right: what the trust table is made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.evaluation.metrics.abstention import auroc, risk_at

ANSWERS = st.lists(st.tuples(st.sampled_from([0.0, 0.2, 0.5, 1.0]), st.booleans()), min_size=1)


@given(ANSWERS)
def test_auroc_is_the_chance_that_a_right_answer_has_more_support(
    answers: list[tuple[float, bool]],
) -> None:
    pairs = [
        (ours > theirs) + 0.5 * (ours == theirs)
        for ours, good in answers
        if good
        for theirs, other in answers
        if not other
    ]
    support, right = [one for one, _ in answers], [good for _, good in answers]
    expected = sum(pairs) / len(pairs) if pairs else None
    assert auroc(support, right) == (None if expected is None else pytest.approx(expected))


def test_the_surest_answers_are_fewer_wrong_where_support_is_worth_something() -> None:
    support, right = [0.9, 0.8, 0.3, 0.1], [True, True, False, False]
    assert [risk_at(support, right, share) for share in (0.5, 0.75, 1)] == [
        0,
        pytest.approx(1 / 3),
        0.5,
    ]
    # Of answers with the same support none is surer: their order does not matter.
    assert risk_at([1, 1], [True, False], 0.5) == risk_at([1, 1], [False, True], 0.5) == 0.5
