from __future__ import annotations

import re
from string import ascii_uppercase
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.evaluation.metrics.closed_set import (
    option_accuracy,
    read_option,
    read_verdict,
    verdict_accuracy,
)
from ras_flow.evaluation.metrics.short_answers import normalize_answer
from ras_flow.evaluation.question import Question
from ras_flow.formats.answer import clean_answer

OPTIONS = {"A": "iron", "B": "carbon dioxide", "C": "salt", "D": "salt water"}


@pytest.mark.parametrize(
    ("said", "letter"),
    [
        ("B", "B"),
        ("(B)", "B"),
        ("A", "A"),
        ("B. carbon dioxide", "B"),
        ("B) it is carbon dioxide, not salt", "B"),
        ("C - because plants need it", "C"),
        ("The answer is (C).", "C"),
        ("The answer is A because of rust.", "A"),
        ("The correct answer is **B**: carbon dioxide", "B"),
        ("The answer is option C.", "C"),
        ("Option A is wrong, option B is wrong. The answer is C.", "C"),
        ("I would say choice B", "B"),
        ("Option B fits better than C does.", "B"),
        ("Carbon dioxide.", "B"),
        ("Plants take carbon dioxide from the air.", "B"),
        ("I think it is C here", "C"),
        ("<think>A or B?</think>B", "B"),
        ("The answer is a mixture of things", None),
        ("A plant takes what it needs.", None),
        ("A or B", None),
        ("salt or iron", None),
        ("E", None),
        ("", None),
        ("C is the answer, not D.", "C"),
        ("B. Vitamin C is the best source of it.", "B"),
        ("B\n\nExplanation: plants do not take salt from the air.", "B"),
        ("Salt is out, and so is iron.\n\n**B**", "B"),
        ("A\nB", None),
        ("A\nB\nC\nThe answer is B.", "B"),
        ("The answer is A. No, wait: the answer is C.", "C"),
        ("C, since option B is wrong.", "C"),
        ("I do not know.", None),
        ("The answer is A as stated, not B.", "A"),
        ("Answer: A mixture of things", None),
        ("Yes. A plant takes what it needs.", None),
        ("A means of transport.", None),
        ("It was he who wrote A Tale of Two Cities.", None),
        ("IT IS A PLANT", None),
    ],
)
def test_the_option_that_an_answer_names(said: str, letter: str | None) -> None:
    assert read_option(said, OPTIONS) == letter


def choice(gold: str) -> Question:
    return Question("1", "Which?", (gold,), options=OPTIONS)


def test_options_that_are_articles_are_told_apart_all_the_same() -> None:
    # Normalised, "A" is nothing, and nothing is in every answer.
    for gold in "ABCD":
        right = {said for said in "ABCD" if option_accuracy(said, choice(gold)) == 1.0}
        assert right == {gold}
    assert option_accuracy("", choice("A")) == option_accuracy("the", choice("A")) == 0.0
    assert read_option("", {"A": "The", "B": "salt"}) is None
    assert read_option("B", {"A": "B", "B": "O"}) == "B", "as of blood: the letter counts"


def test_an_option_that_is_part_of_another_word_is_not_named() -> None:
    assert read_option("It takes 15 days.", {"A": "5", "B": "15"}) == "B"
    assert read_option("It has irony.", OPTIONS) is None


BEFORE = ["", "It is late. ", "I choose ", "I would go with ", "Among these, ", "It must be "]
BEFORE += ["Letter ", "the letter is ", "Choosing ", "The answer is ", "Answer: ", "Option ", "- "]
BEHIND = ["", ".", ", because", " because of this", " since it is so", " - by far", " as stated"]
BEHIND += [" is correct", " is right.", " is the best", " is the most accurate", " seems right"]
BEHIND += [" would be correct", " must be it", " makes sense", " fits best", " isn't wrong"]


@given(st.sampled_from(BEFORE), st.sampled_from(BEHIND))
def test_an_option_is_read_the_same_whatever_its_letter(before: str, behind: str) -> None:
    for letter in OPTIONS:
        assert read_option(f"{before}{letter}{behind}", OPTIONS) == letter


TEXTS = ["iron", "carbon dioxide", "salt", "salt water", "5", "15"]
NAMING = st.sampled_from(
    ["The answer is", "answer:", "Option", "choice", "or", "and", "not", "(", ")", "**", ".", "-"]
    + [*"abcdABCDEX", *TEXTS]
)


@given(st.lists(NAMING | st.text(max_size=5), max_size=8).map(" ".join), st.integers(2, 6))
def test_reading_an_option_never_fails_and_gives_one_that_is_named(said: str, many: int) -> None:
    options = dict(zip(ascii_uppercase, TEXTS[:many], strict=False))
    letter = read_option(said, options)
    assert letter in {None, *options}
    if letter:
        alone = re.search(rf"(?<![^\W_]){letter}(?![^\W_])", clean_answer(said), re.IGNORECASE)
        assert alone or options[letter] in normalize_answer(clean_answer(said))


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("true", True),
        ("'false'", False),
        ("Yes, he could.", True),
        ("No", False),
        ("SUPPORTS", True),
        ("No, it is true that he was there, but late.", False),
        ("The statement is not true.", False),
        ("This isn't correct", False),
        ("It is not entirely false.", True),
        ("It would not be correct.", False),
        ("This can't be true.", False),
        ("True or false? False.", False),
        ("True/False", None),
        ("The claim is supported by the passages.", True),
        ("There is no evidence against it, so it is true.", True),
        ("So the answer is no, since he died before.", False),
        ("It may be true, it may be false.", None),
        ("There is no evidence.", None),
        ("There is no doubt that it is true.", True),
        ("He said yes to what is false.", False),
        ("It is simply untrue.", False),
        ("The answer is true. No, wait: the answer is false.", False),
        ("", None),
        ("This is not a true statement.", False),
        ("That is not right.", None),
        ("It is not the case that this is true.", None),
        ("There is no evidence that this is true.", None),
        ("False. There is no scientific evidence for it.", False),
    ],
)
def test_the_verdict_of_an_answer(said: str, verdict: bool | None) -> None:
    assert read_verdict(said) is verdict


def test_yes_is_true_and_silence_is_wrong() -> None:
    true, no = Question("1", "Is it?", ("true",)), Question("2", "Is it?", ("no",))
    assert verdict_accuracy("Yes.", true) == verdict_accuracy("false", no) == 1.0
    assert verdict_accuracy("", no) == verdict_accuracy("I cannot tell", true) == 0.0


def test_many_blanks_in_an_answer_hold_nothing_up() -> None:
    began = perf_counter()
    assert read_option(f"The answer is{' ' * 20_000}B", {"A": "north", "B": "south"}) == "B"
    assert read_option(f"The answer is{' ' * 20_000}#", {"A": "north", "B": "south"}) is None
    assert perf_counter() - began < 5, "it took a minute"
