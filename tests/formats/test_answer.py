"""What models put around an answer is taken away, and nothing else."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ras_flow.formats.answer import clean_answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Narvik", "Narvik"),
        (" Answer: Narvik\n", "Narvik"),
        ("Final answer: 'Narvik'", "Narvik"),
        ("“Narvik”", "Narvik"),
        ("<think>Was it Bodø? No.</think>\nNarvik", "Narvik"),
        ("<think>never closed", ""),
        ("Was it Bodø? No.</think>\nAnswer: Narvik", "Narvik"),
        ("<Thinking>Bodø?</Thinking>Narvik", "Narvik"),
        ("Nar\0vik\ud800", "Narvik"),
        ('"Yes" and "no"', '"Yes" and "no"'),
        ("the answer: a poem", "the answer: a poem"),
        ("", ""),
        ("'", "'"),
    ],
)
def test_answers(reply: str, answer: str) -> None:
    assert clean_answer(reply) == answer


@given(st.text(st.characters(codec=None)))
def test_any_text_gives_a_stripped_part_of_it_that_can_be_stored(text: str) -> None:
    assume("<think>" not in text.lower())
    answer = clean_answer(text)
    assert answer in re.sub("[\0\ud800-\udfff]", "", text) and answer == answer.strip()
    assert "\0" not in answer
    answer.encode()
