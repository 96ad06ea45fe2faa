"""What models write is read for what it says, and never raises."""

from __future__ import annotations

from functools import partial
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.evaluation.systems.replies import (
    Action,
    SelfAskReply,
    cut_step,
    first_line,
    first_sentence,
    parse_action,
    parse_candidates,
    parse_choice,
    parse_conclusion,
    parse_self_ask,
    parse_verdict,
)

PIECES = st.sampled_from(
    ["Action:", "Search[", "Finish[", "]", "(", ")", "Follow up:", "Intermediate answer:", "\n"]
    + ["So the answer is:", "the answer is", "Final answer: ", "1. ", "(a) ", "(b) ", "- "]
    + ["true", "<think>", "Narvik", "Bodø", '"', " ", "."]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES | st.text(max_size=5)).map("".join))
BORN = "Thought: My first search (Where was Clara Novak born?) found Lindau"
search, finish = partial(Action, "search"), partial(Action, "finish")


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Thought: x\nAction: Search[Where was Mira born?]", search("Where was Mira born?")),
        ("Action 2: search[Mira Lund", search("Mira Lund")),
        ('Action: Search("Mira Lund")', search("Mira Lund")),
        ("Action: Lookup: Mira Lund", search("Mira Lund")),
        ("Thought: done\nAction: Finish[Narvik]", finish("Narvik")),
        ("Final Answer: Narvik", finish("Narvik")),
        ("I think the answer is Narvik.", finish("Narvik")),
        ("Action: Search[a]\nObservation: b\nAction: Finish[c]", search("a")),
        ("Action: Search[]", Action(None)),
        ("I do not know.", Action(None)),
        ("<think>Search[a]</think>Action: Search[b]", search("a")),
        # The words of an action stand in a sentence that speaks of one, too.
        (f"{BORN}.\nAction: Search[Which river is it?]", search("Which river is it?")),
        ("Thought: My search [1] says Lindau.\nAction: Finish[River Aach]", finish("River Aach")),
        ("Thought: Search: done.\n**Action 2:** Finish[River Aach]", finish("River Aach")),
        ("Thought: Search (Lindau) helped.\n- Search[Aach]", search("Aach")),
        ("Search[Lindau]\nThen: Finish[River Aach]", search("Lindau")),
        ("I can finish (the passage names him).", Action(None)),
        (f"{BORN}.", Action(None)),
        (f"{BORN}, so the answer is River Aach.", finish("River Aach")),
        # It may follow other words in its line.
        ("Thought: It is not known. Action: Search[Lindau]", search("Lindau")),
        ("Thought: It is not known. Search: Lindau", search("Lindau")),
        ("I will now Search[Lindau]", search("Lindau")),
        ("Thought: I start my search: Search[Lindau]", search("Lindau")),
        ("1) search (Lindau)", search("Lindau")),
        ("Thus my final answer: River Aach", finish("River Aach")),
    ],
)
def test_an_action_is_read_as_models_write_it(text: str, action: Action) -> None:
    assert parse_action(text) == action


def test_a_step_ends_with_the_line_of_the_action_that_is_taken() -> None:
    step = f"{BORN}.\nAction: Search[river]"
    assert cut_step(f"{step} now\nThought: It is found.\nAction: Finish[x]") == f"{step} now"
    assert cut_step(f"{BORN}.\nSo it is.") == f"{BORN}.\nSo it is."


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("Follow up: Where?", ("", "Where?")),
        ("Intermediate answer: A\nFollow-up: Where?", ("A", "Where?")),
        ("Intermediate answer: A\nSo the final answer is: B.", ("A", "", "B")),
        ("Follow up: a?\nIntermediate answer: x\nSo the final answer is: y", ("", "a?")),
        ("Intermediate answer: The answer is Lindau.\nFollow up: Where?", ("Lindau", "Where?")),
        ("Intermediate answer is Lindau\nFollow up: Where?", ("Lindau", "Where?")),
        ("The answer is not there yet.\nFollow up: Where?", ("", "Where?")),
        ("The answer is Lindau, so far.\nFollow up: Where?", ("", "Where?")),
        ("nothing of the kind", ()),
    ],
)
def test_a_self_ask_reply_is_read_up_to_its_first_question(
    text: str, parsed: tuple[str, ...]
) -> None:
    assert parse_self_ask(text) == SelfAskReply(*parsed)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Mira Lund was born in Narvik. She was an engineer.", "Mira Lund was born in Narvik."),
        ("J. K. Rowling wrote it. Then more.", "J. K. Rowling wrote it."),
        ("J.K. Rowling was born in Yate. Then more.", "J.K. Rowling was born in Yate."),
        ("He was the 35th U.S. President. Then more.", "He was the 35th U.S. President."),
        ("Lt. Col. Lund built it. Then more.", "Lt. Col. Lund built it."),
        ("1. Clara was born in 1886. Then more.", "Clara was born in 1886."),
        ("She was 66. Then more.", "She was 66."),
        ("Reasoning: It is so.\nQuestion: b", "It is so."),
        ("3.5 km is the length", "3.5 km is the length"),
        ("...", ""),
    ],
)
def test_the_first_sentence_is_cut_at_its_end_only(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


def test_the_first_line_is_one_with_words() -> None:
    assert first_line("\n \n...\nIt is so.\nAnd more.") == "It is so."
    assert first_line("...\n") == ""


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("So the answer is: Narvik.", "Narvik"),
        ("Therefore, the answer is Narvik", "Narvik"),
        ("The final answer is: \nNarvik", "Narvik"),
        ("Narvik is a town.", ""),
        ("The answer is not known", ""),
    ],
)
def test_a_conclusion_is_told_from_a_statement(text: str, answer: str) -> None:
    assert parse_conclusion(text) == answer


@pytest.mark.parametrize(
    "text",
    ["1. Narvik\n2. Bodø\n3. Oslo", "(a) Narvik (b) Bodø", "Narvik\nBodø", "- Narvik\n- Bodø"]
    + ["1. Narvik\n2. narvik\n3. Bodø"],
)
def test_candidates_are_read_from_any_kind_of_list(text: str) -> None:
    assert parse_candidates(text, 2) == ["Narvik", "Bodø"]


@pytest.mark.parametrize("text", ["True.", "yes", "false", "It is not true", ""])
def test_a_verdict_is_true_only_if_it_says_so(text: str) -> None:
    assert parse_verdict(text) == (text in ("True.", "yes"))


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("1", 0),
        ("Summary one.", 0),
        ("The first", 0),
        ("FORMER", 0),
        ("Summary 2", 1),
        ("(two)", 1),
        ("the second, not the first", 1),
        ("The latter.", 1),
        ("neither", None),
        ("none of the 12", None),
        ("", None),
    ],
)
def test_one_of_two_is_chosen_by_number_or_word(text: str, choice: int | None) -> None:
    assert parse_choice(text) == choice


@given(TEXTS)
def test_no_text_raises_and_what_is_read_stands_in_it(text: str) -> None:
    action = parse_action(text)
    assert bool(action.text) == (action.kind is not None)
    reply = parse_self_ask(text)
    assert not (reply.final and reply.follow_up)
    candidates = parse_candidates(text, 2)
    assert len(candidates) <= 2 and all(candidates)
    for said in (
        *(action.text, reply.follow_up, reply.intermediate, reply.final),
        *(parse_conclusion(text), first_sentence(text), *candidates),
    ):
        # Control characters are left out of what is read.
        assert all(_visible(word) in _visible(text) for word in said.split())
    assert parse_choice(text) in (0, 1, None)
    parse_verdict(text)


def _visible(text: str) -> str:
    return "".join(char for char in text if char.isprintable() and not char.isspace())


@pytest.mark.parametrize("before", ["x", "So the final answer is", "Intermediate answer", "Action"])
def test_many_blanks_in_a_reply_hold_nothing_up(before: str) -> None:
    text = f"{before}{' ' * 20_000}#1) Narvik 2) Bodø. {'A. ' * 7_000}"
    began = process_time()
    parse_action(text)
    parse_self_ask(text)
    first_sentence(text)
    assert parse_candidates(text, 2)
    assert parse_conclusion("\n" * 50_000 + "so the answer is Aach") == "Aach"
    assert process_time() - began < 5, "it took a minute"
