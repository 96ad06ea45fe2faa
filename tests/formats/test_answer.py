"""What models put around an answer is taken away, and nothing else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.formats.answer import clean_answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Narvik", "Narvik"),
        (" Answer: Narvik\n", "Narvik"),
        ("Final answer: 'Narvik'", "Narvik"),
        ("“Narvik”", "Narvik"),
        ("‘Narvik’", "Narvik"),
        ("«Narvik»", "Narvik"),
        ("`Narvik`", "Narvik"),
        ("„Narvik“", "Narvik"),
        ("»Narvik«", "Narvik"),
        ("「ナルヴィク」", "ナルヴィク"),
        ("「ナルヴィク」と「ボードー」", "「ナルヴィク」と「ボードー」"),
        ("***Narvik***", "Narvik"),
        ("‘Narvik’s harbour", "‘Narvik’s harbour"),
        ("Answer: ' Narvik '", "Narvik"),
        ("Was it Bodø? No.</think>\nAnswer: Narvik", "Narvik"),
        ("<think>never closed", ""),
        ("Nar\0vik\ud800", "Narvik"),
        ("**Narvik**", "Narvik"),
        ("*Narvik*", "Narvik"),
        ("**Answer:** Narvik", "Narvik"),
        ("**Final Answer**: Narvik", "Narvik"),
        ("**Answer: Narvik**", "Narvik"),
        ("Answer: **Narvik**", "Narvik"),
        ("***Answer:*** **Narvik**", "Narvik"),
        ("Answer：Narvik", "Narvik"),
        ("<think>Bodø?</think><answer> Narvik </answer>", "Narvik"),
        (r"\boxed{Narvik}", "Narvik"),
        (r"Final answer: \boxed{\text{Narvik}}", "Narvik"),
        (r"\boxed{a}, \boxed{b}", r"\boxed{a}, \boxed{b}"),
        ("<answer>a</answer><answer>b</answer>", "<answer>a</answer><answer>b</answer>"),
        ("Narvik**", "Narvik"),
        ("**Answer: Narvik", "Narvik"),
        ("** *Narvik*", "Narvik"),
        ("Sagittarius A*", "Sagittarius A*"),
        ("**Narvik** and **Bodø**", "**Narvik** and **Bodø**"),
        ("**Narvik** lies in the north.", "**Narvik** lies in the north."),
        ("*", "*"),
        ('""', ""),
        ("5 * 3", "5 * 3"),
        ("__init__", "__init__"),
        ('"Yes" and "no"', '"Yes" and "no"'),
        ("the answer: a poem", "the answer: a poem"),
        ("", ""),
        ("'", "'"),
    ],
)
def test_answers(reply: str, answer: str) -> None:
    assert clean_answer(reply) == answer


PIECES = st.lists(
    st.sampled_from(["Answer:", "Final  answer : ", "output:", "**Answer:**", "**"])
    | st.sampled_from([*"\"'“”«»` \n\0\ud800", "Narvik", "a b"])
    | st.text(st.characters(codec=None), max_size=5),
    max_size=6,
).map("".join)
REPLIES = st.builds(
    "{0}{1[0]}{2}{1[1]}{3}".format,
    st.sampled_from(["", " ", "Answer: ", "x</think>Final answer:"]),
    st.sampled_from(['""', "''", "“”", "«»", "``", "““", "  "]),
    PIECES,
    st.sampled_from(["", " \n", "."]),
)


@given(REPLIES)
def test_any_text_gives_a_stripped_part_of_it_that_can_be_stored(text: str) -> None:
    answer = clean_answer(text)
    assert answer in re.sub("[\0\ud800-\udfff]", "", text) and answer == answer.strip()
    assert "\0" not in answer
    answer.encode()
