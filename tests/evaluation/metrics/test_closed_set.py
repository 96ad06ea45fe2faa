from __future__ import annotations

from string import ascii_uppercase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.evaluation.metrics.closed_set import (
    option_accuracy,
    read_option,
    read_verdict,
    verdict_accuracy,
)

OPTIONS = {"A": "iron", "B": "carbon dioxide", "C": "salt", "D": "salt water"}


@pytest.mark.parametrize(
    ("said", "letter"),
    [
        ("B", "B"),
        ("b", "B"),
        ("(B)", "B"),
        ("**B**", "B"),
        ("B.", "B"),
        ("A", "A"),
        ("a)", "A"),
        ("B. carbon dioxide", "B"),
        ("B) it is carbon dioxide, not salt", "B"),
        ("C - because plants need it", "C"),
        ("Answer: D", "D"),
        ("The answer is (C).", "C"),
        ("The answer is A because of rust.", "A"),
        ("The correct answer is **B**: carbon dioxide", "B"),
        ("The answer is option C.", "C"),
        ("Option A is wrong, option B is wrong. The answer is C.", "C"),
        ("I would say choice B", "B"),
        ("Carbon dioxide.", "B"),
        ("Plants take carbon dioxide from the air.", "B"),
        ("Plants take salt water.", "D"),
        ("I think it is C here", "C"),
        ("<think>A or B?</think>B", "B"),
        ("The answer is a mixture of things", None),
        ("A plant takes what it needs.", None),
        ("A or B", None),
        ("B or C", None),
        ("salt or iron", None),
        ("E", None),
        ("", None),
        ("I do not know.", None),
    ],
)
def test_the_option_that_an_answer_names(said: str, letter: str | None) -> None:
    assert read_option(said, OPTIONS) == letter


def test_options_that_are_articles_are_told_apart_all_the_same() -> None:
    # Normalised, "A" is nothing, and nothing is in every answer.
    for gold in "ABCD":
        right = {said for said in "ABCD" if option_accuracy(said, gold, OPTIONS) == 1.0}
        assert right == {gold}
    assert option_accuracy("", "A", OPTIONS) == 0.0
    assert option_accuracy("the", "A", OPTIONS) == 0.0


def test_an_option_that_is_part_of_another_word_is_not_named() -> None:
    assert read_option("It takes 15 days.", {"A": "5", "B": "15"}) == "B"
    assert read_option("It has irony.", OPTIONS) is None


@given(st.text(max_size=40), st.integers(2, 6))
def test_reading_an_option_never_fails_and_gives_one_that_is_there(said: str, many: int) -> None:
    options = {letter: f"option {letter}" for letter in ascii_uppercase[:many]}
    assert read_option(said, options) in {None, *options}


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("true", True),
        ("True.", True),
        ("'false'", False),
        ("Yes, he could.", True),
        ("No", False),
        ("SUPPORTS", True),
        ("REFUTES", False),
        ("No, it is true that he was there, but late.", False),
        ("The statement is not true.", False),
        ("This isn't correct", False),
        ("It is not entirely false.", True),
        ("True or false? False.", False),
        ("The claim is supported by the passages.", True),
        ("There is no evidence against it, so it is true.", True),
        ("So the answer is no, since he died before.", False),
        ("She was born in 1921, so no", False),
        ("It may be true, it may be false.", None),
        ("There is no evidence.", None),
        ("", None),
        ("This is not a true statement.", False),
        ("It is not the case that this is true.", None),
        ("There is no evidence that this is true.", None),
        ("False. There is no scientific evidence for it.", False),
    ],
)
def test_the_verdict_of_an_answer(said: str, verdict: bool | None) -> None:
    assert read_verdict(said) is verdict


def test_yes_is_true_and_silence_is_wrong() -> None:
    assert verdict_accuracy("Yes.", "true") == verdict_accuracy("false", "no") == 1.0
    assert verdict_accuracy("", "no") == verdict_accuracy("I cannot tell", "true") == 0.0


@given(st.text(max_size=40))
def test_reading_a_verdict_never_fails(said: str) -> None:
    assert read_verdict(said) in (True, False, None)
