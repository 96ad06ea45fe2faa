from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.errors import InputError
from ras_flow.training.data.labels import check_labels, input_key, keep_first
from ras_flow.training.data.records import Record


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


def test_one_input_with_two_labels_or_answers_is_told() -> None:
    other = record(id="y", question="who founded  HALDEN", target={"label": "NO_RETRIEVAL"})
    with pytest.raises(InputError, match="two labels: x says .* y says"):
        check_labels([record(), other])
    first = record(task="answer", target={"answer": "Oslo"})
    assert check_labels([first, record(id="y", task="answer", target={"answer": "the oslo"})]) == 1
    with pytest.raises(InputError, match="two labels"):
        check_labels([first, record(id="y", task="answer", target={"answer": "Bergen"})])


def test_the_order_of_triples_and_spelling_make_no_other_input() -> None:
    one = [{"subquery": "Q?", "triples": [["A", "b", "C"], ["D", "e", "F"]]}]
    two = [{"subquery": "q", "triples": [["d", "E", "f"], ["the A", "b", "c"]]}]
    assert input_key(record(chain=one)) == input_key(record(chain=two))
    assert input_key(record(chain=one)) != input_key(record(chain=one, task="answer"))
    assert input_key(record(chain=one)) != input_key(record(chain=one + two))
    assert input_key(record(instruction="True or false?")) != input_key(record())


def test_passages_make_another_input_in_whatever_order_they_come() -> None:
    texts = [["Halden", "Halden is a town."], ["Moss", "Moss is a town."]]

    def key(*passages: list[str]) -> str:
        return input_key(
            record(chain=[{"subquery": "Q?", "triples": [], "passages": list(passages)}])
        )

    assert key(*texts) == key(*texts[::-1]) != key(texts[0]) != key(texts[1])


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
