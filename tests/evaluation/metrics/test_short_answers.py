from __future__ import annotations

import string
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.evaluation.metrics.short_answers import (
    exact_match,
    f1,
    hotpotqa_f1,
    match,
    normalize_answer,
)

PIECES = [
    "a", "an", "the", "The", "A.", "yes", "no", "No.", "noanswer", "man", "U.S.", "Élan", "İ", "ß",
    "don't", "it’s", "a_b", "_", "3.5", "第", " ", "  ", "\t", "\u00a0", "!", "-", "The The",
]  # fmt: skip
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=6).map(" ".join),
    st.lists(st.sampled_from(PIECES), max_size=4).map("".join),
    st.text(max_size=20),
)
ANSWERS = st.lists(TEXTS, min_size=1, max_size=3)


def words(text: str) -> list[str]:
    """The normalisation of SQuAD and HotpotQA, run by run instead of by a pattern."""
    bare = "".join("" if char in string.punctuation else char for char in text.lower())
    runs = ["".join(run) for _, run in groupby(bare, str.isalnum)]
    return "".join(" " if run in ("a", "an", "the") else run for run in runs).split()


def squad_f1(said: list[str], wanted: list[str]) -> float:
    left, same = list(wanted), 0
    for word in said:
        if word in left:
            left.remove(word)
            same += 1
    if same == 0:
        return 0
    precision = 1.0 * same / len(said)
    recall = 1.0 * same / len(wanted)
    return (2 * precision * recall) / (precision + recall)


def official_hotpotqa_f1(said: list[str], wanted: list[str]) -> float:
    for verdict in (["yes"], ["no"], ["noanswer"]):
        if verdict in (said, wanted) and said != wanted:
            return 0
    return squad_f1(said, wanted)


@given(TEXTS)
def test_normalisation_is_that_of_the_official_scripts(text: str) -> None:
    assert normalize_answer(text) == " ".join(words(text))


@given(TEXTS, ANSWERS)
def test_exact_match_and_f1_are_those_of_squad(said: str, answers: list[str]) -> None:
    assert exact_match(said, answers) == max(words(said) == words(gold) for gold in answers)
    assert f1(said, answers) == max(squad_f1(words(said), words(gold)) for gold in answers)


@given(TEXTS, TEXTS)
def test_f1_is_that_of_hotpotqa(said: str, gold: str) -> None:
    assert hotpotqa_f1(said, [gold]) == official_hotpotqa_f1(words(said), words(gold))


def test_the_best_of_several_answers_counts() -> None:
    assert f1("Wisła", ["Vistula", "Wisła"]) == 1.0
    assert exact_match("the Vistula", ["Wisła", "Vistula"]) == 1.0
    assert match("It is the Wisła, in Polish.", ["Vistula", "Wisła"]) == 1.0
    assert [score("Wisła", []) for score in (f1, hotpotqa_f1, exact_match, match)] == [0.0] * 4


def test_match_looks_for_the_answer_in_the_prediction_and_not_the_other_way_round() -> None:
    assert match("It flows through Warsaw, the capital.", ["Warsaw"]) == 1.0
    assert match("Warsaw", ["Warsaw, the capital"]) == 0.0
    assert match("", ["Warsaw"]) == 0.0


@pytest.mark.parametrize("gold", ["A", "The The", "the", "!", "?!", "", "  "])
def test_an_answer_of_which_nothing_is_left_is_not_in_everything(gold: str) -> None:
    assert match("Something else entirely.", [gold]) == 0.0
    assert match("", [gold]) == 0.0


def test_an_answer_of_which_nothing_is_left_is_found_as_it_stands() -> None:
    assert match("It was the the who sang it", ["The The"]) == 1.0
    assert match("The The", ["The The"]) == 1.0
