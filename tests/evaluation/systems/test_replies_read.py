"""Replies in which an action's or a conclusion's words stand elsewhere too."""

from __future__ import annotations

from time import process_time

import pytest

from ras_flow.evaluation.systems.replies import (
    Action,
    cut_step,
    first_line,
    parse_action,
    parse_conclusion,
)

BORN = "Thought: My first search (Where was Clara Novak born?) found Lindau"


@pytest.mark.parametrize(
    ("text", "action"),
    [
        (
            f"{BORN}.\nAction: Search[Which river flows through Lindau?]",
            Action("search", "Which river flows through Lindau?"),
        ),
        (
            "Thought: My search [1] says Lindau.\nAction: Finish[River Aach]",
            Action("finish", "River Aach"),
        ),
        (
            "Thought: Search: done.\n**Action 2:** Finish[River Aach]",
            Action("finish", "River Aach"),
        ),
        ("Thought: Search (Lindau) helped.\n- Search[Aach]", Action("search", "Aach")),
        ("Search[Lindau]\nThen: Finish[River Aach]", Action("search", "Lindau")),
        ("I can finish (the passage names him).", Action(None)),
        (f"{BORN}.", Action(None)),
        (f"{BORN}, so the answer is River Aach.", Action("finish", "River Aach")),
    ],
)
def test_an_action_is_told_from_a_sentence_that_speaks_of_one(text: str, action: Action) -> None:
    assert parse_action(text) == action


@pytest.mark.parametrize(
    "text",
    [
        "Thought: It is not known. Action: Search[Lindau]",
        "Thought: It is not known. Search: Lindau",
        "I will now Search[Lindau]",
        "Thought: I start my search: Search[Lindau]",
        "1) search (Lindau)",
    ],
)
def test_an_action_may_follow_other_words_in_its_line(text: str) -> None:
    assert parse_action(text) == Action("search", "Lindau")


def test_so_may_a_final_answer() -> None:
    assert parse_action("Thus my final answer: River Aach") == Action("finish", "River Aach")


def test_a_step_ends_with_the_line_of_the_action_that_is_taken() -> None:
    step = f"{BORN}.\nAction: Search[river]"
    assert cut_step(f"{step} now\nThought: It is found.\nAction: Finish[x]") == f"{step} now"
    assert cut_step(f"{BORN}.\nSo it is.") == f"{BORN}.\nSo it is."


def test_the_first_line_is_one_with_words() -> None:
    assert first_line("\n \n...\nIt is so.\nAnd more.") == "It is so."
    assert first_line("...\n") == ""


def test_empty_lines_without_end_are_read_in_no_time() -> None:
    began = process_time()
    assert parse_conclusion("\n" * 50_000 + "so the answer is Aach") == "Aach"
    assert process_time() - began < 5, "it took half a minute"
