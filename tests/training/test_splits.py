from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.errors import ConfigurationError
from ras_flow.training.splits import Splitter


@given(st.text(), st.integers())
def test_spellings_of_a_question_share_its_split(question: str, seed: int) -> None:
    split = Splitter(seed=seed, dev=0.3, test=0.3)
    assert split(question) == split(f"  {question.upper()} ") == split(question.lower()) or (
        question.upper().lower() != question.lower()
    )


def test_shares_are_kept_and_seeds_differ() -> None:
    questions = [f"Who is number {n}?" for n in range(4000)]
    counts = Counter(map(Splitter(seed=1, dev=0.1, test=0.2), questions))
    assert abs(counts["dev"] - 400) < 80
    assert abs(counts["test"] - 800) < 110
    assert [Splitter(seed=1)(q) for q in questions] != [Splitter(seed=2)(q) for q in questions]
    # The split of a question is the same on every machine and in every version.
    assert [Splitter(dev=0.3, test=0.3)(q) for q in questions[:6]] == EXPECTED


EXPECTED = ["dev", "train", "dev", "test", "dev", "train"]


def test_a_larger_test_share_leaves_the_dev_questions_where_they_were() -> None:
    questions = [f"Who is number {n}?" for n in range(2000)]
    before, after = Splitter(dev=0.1, test=0.2), Splitter(dev=0.1, test=0.4, dev_from=0.2)
    pairs = Counter((before(question), after(question)) for question in questions)
    kept = {("dev", "dev"), ("test", "test"), ("train", "test"), ("train", "train")}
    assert set(pairs) == kept
    assert abs(pairs["train", "test"] - 400) < 80


def test_shares_must_leave_something() -> None:
    with pytest.raises(ConfigurationError, match="dev"):
        Splitter(dev=0.5, test=0.5)
