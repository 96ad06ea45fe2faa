from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.training.data.records import Record
from ras_flow.training.data.splits import Splitter, check_labels, input_key, keep_first


def record(**fields: Any) -> Record:
    base: dict[str, Any] = {
        "id": "x",
        "source": "a",
        "split": "train",
        "task": "plan",
        "question": "Who founded Halden?",
        "chain": [],
        "target": {"label": "SUBQ", "subquery": "Who founded Halden?"},
    }
    return {**base, **fields}  # type: ignore[return-value]


@given(st.text(), st.integers())
def test_spellings_of_a_question_share_its_split(question: str, seed: int) -> None:
    split = Splitter(seed, dev=0.3, test=0.3)
    assert split(question) == split(f"  {question.upper()} ") == split(question.lower()) or (
        question.upper().lower() != question.lower()
    )


def test_shares_are_kept_and_seeds_differ() -> None:
    questions = [f"Who is number {n}?" for n in range(4000)]
    counts = Counter(map(Splitter(1, dev=0.1, test=0.2), questions))
    assert abs(counts["dev"] - 400) < 80
    assert abs(counts["test"] - 800) < 110
    assert [Splitter(1)(q) for q in questions] != [Splitter(2)(q) for q in questions]
    # The split of a question is the same on every machine and in every version.
    assert [Splitter(13, 0.3, 0.3)(q) for q in questions[:6]] == EXPECTED


EXPECTED = ["dev", "train", "dev", "test", "dev", "train"]


def test_shares_must_leave_something() -> None:
    with pytest.raises(ConfigurationError, match="leave some for training"):
        Splitter(dev=0.5, test=0.5)


def test_one_input_with_two_labels_is_told() -> None:
    other = record(id="y", question="who founded  HALDEN", target={"label": "NO_RETRIEVAL"})
    with pytest.raises(InputError, match="two labels: x says .* y says"):
        check_labels([record(), other])


def test_the_order_of_triples_and_spelling_make_no_other_input() -> None:
    one = [{"subquery": "Q?", "triples": [["A", "b", "C"], ["D", "e", "F"]]}]
    two = [{"subquery": "q", "triples": [["d", "E", "f"], ["the A", "b", "c"]]}]
    assert input_key(record(chain=one)) == input_key(record(chain=two))
    assert input_key(record(chain=one)) != input_key(record(chain=one, task="answer"))
    assert input_key(record(chain=one)) != input_key(record(chain=one + two))
    assert input_key(record(instruction="True or false?")) != input_key(record())


def test_one_question_in_two_splits_is_told() -> None:
    dev = record(id="y", split="dev", question="Who founded the Halden?")
    with pytest.raises(InputError, match="two splits: x in train, y in dev"):
        check_labels([record(), dev])


labels = st.sampled_from(
    [
        {"label": "NO_RETRIEVAL"},
        {"label": "SUBQ", "subquery": "Where is Halden?"},
        {"label": "SUBQ", "subquery": "where is halden"},
        {"label": "SUBQ", "subquery": "Who?"},
    ]
)
any_records = st.builds(
    lambda question, target: record(question=question, target=target),
    st.sampled_from(["Who?", "who", "Where is it?", "Where is the it", "When?"]),
    labels,
)


@given(st.lists(any_records, max_size=12))
def test_no_input_keeps_two_labels(made: list[Record]) -> None:
    named = [{**one, "id": str(n)} for n, one in enumerate(made)]
    dropped: dict[str, int] = {}
    kept = list(keep_first(named, dropped))  # type: ignore[arg-type]
    assert check_labels(kept) == len(kept)
    assert len(kept) + sum(dropped.values()) == len(made)
    # What was dropped as conflicting does conflict with what was kept.
    if dropped.get("conflicting"):
        with pytest.raises(InputError, match="two labels"):
            check_labels(named)  # type: ignore[arg-type]
    else:
        assert check_labels(named) == len(kept)  # type: ignore[arg-type]
