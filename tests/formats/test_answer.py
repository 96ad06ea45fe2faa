"""What models put around an answer is taken away, and nothing else."""

from __future__ import annotations

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
        ('"Yes" and "no"', '"Yes" and "no"'),
        ("the answer: a poem", "the answer: a poem"),
        ("", ""),
        ("'", "'"),
    ],
)
def test_answers(reply: str, answer: str) -> None:
    assert clean_answer(reply) == answer


@given(st.text())
def test_any_text_gives_a_stripped_part_of_it(text: str) -> None:
    assume("<think>" not in text.lower())
    answer = clean_answer(text)
    assert answer in text and answer == answer.strip()
