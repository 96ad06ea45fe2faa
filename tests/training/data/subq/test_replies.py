"""What models reply when HotpotQA-SUBQ is built: whatever it is, it is read or refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.formats.normalize import normalize_question
from ras_flow.training.data.subq.prompts import read_numbers, read_subquery


@given(st.text(), st.integers(0, 9))
def test_any_reply_is_read_as_numbers_of_documents_or_refused(text: str, count: int) -> None:
    numbers, problem = read_numbers(text, count=count)
    assert all(1 <= number <= count for number in numbers)
    assert len(set(numbers)) == len(numbers)
    assert not (numbers and problem)


@given(st.text(), st.lists(st.text(min_size=1), max_size=3))
def test_any_reply_is_read_as_a_new_subquery_or_refused(text: str, earlier: list[str]) -> None:
    subquery, problem = read_subquery(text, earlier=earlier)
    assert bool(subquery) == (problem is None)
    assert not subquery or normalize_question(subquery) not in map(normalize_question, earlier)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("3, 1", [3, 1]), ("\nAnswer: [1] and [2].", [1, 2]), ("2; 2", [2]), ("None.", [])],
)
def test_numbers_are_read_in_the_form_that_models_give_them(text: str, numbers: list[int]) -> None:
    assert read_numbers(text, count=3) == (numbers, None)


def test_a_number_without_end_is_refused() -> None:
    numbers, problem = read_numbers("1, " + "9" * 5000, count=3)
    assert (numbers, problem is None) == ([], False)
