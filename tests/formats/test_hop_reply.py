"""Replies of a model that reads a hop in one call, in every form that models write."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.formats.hop_reply import parse_hop_reply

BORN = ("Clara Novak", "born in", "Lindau")
FLOWS = ("Lindau", "lies on", "River Aach")
PLAIN = (
    "Clara Novak | born in | Lindau [1]\nLindau | lies on | River Aach [3]\n"
    "[ANSWER] River Aach [1, 3]"
)


def spos(text: str) -> list[tuple[str, ...]]:
    return [fact.spo for fact in parse_hop_reply(text).facts]


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.replace("\n", "\r\n"),
        "<think>Maybe [SUBQ] who? No: x | y | z [9].</think>\n" + PLAIN,
        "Facts:\n```\n" + PLAIN.replace("\n[ANSWER]", "\n```\n[ANSWER]"),
        "[ANSWER] River Aach [1, 3]\n" + PLAIN.rpartition("\n")[0],
        PLAIN.replace("Clara", "- Clara").replace("Lindau |", "* Lindau |"),
        PLAIN.replace("Clara", "1. Clara").replace("Lindau |", "2. Lindau |"),
        "[1] Clara Novak | born in | Lindau\n[3] Lindau | lies on | River Aach\n"
        "**[ANSWER] River Aach** [1][3]",
        "(Clara Novak | born in | Lindau) [1]\n(Lindau | lies on | River Aach) (passage 3)\n"
        "Answer: River Aach (passages 1, 3)",
        "(S> Clara Novak| P> born in| O> Lindau) [1]\n(S> Lindau| P> lies on| O> River Aach) [3]\n"
        "[FINAL ANSWER]: River Aach [passages 1 and 3].",
        PLAIN + "\n\nI chose this because the town lies on it.",
        PLAIN + "\n[SUBQ] What else?\nSearch: What else?\nEvil | is | true [4]",
        json.dumps(
            {
                "facts": [
                    {"subject": s, "predicate": p, "object": o, "passages": [number]}
                    for (s, p, o), number in ((BORN, 1), (FLOWS, 3))
                ],
                "search": [],
                "answer": "River Aach",
                "passages": [1, 3],
                "not_found": "",
            }
        ),
    ],
)
def test_facts_and_answer_are_read_in_every_form(text: str) -> None:
    read = parse_hop_reply(text)
    assert spos(text)[:2] in ([BORN, FLOWS], [FLOWS, BORN])
    assert [list(fact.numbers) for fact in read.facts[:2]] == [[1], [3]]
    assert (read.label, read.text, list(read.numbers)) == ("ANSWER", "River Aach", [1, 3])


@pytest.mark.parametrize(
    ("text", "label", "said"),
    [
        (
            "[SUBQ] When did A die?\n[SUBQ] When did B die?",
            "SUBQ",
            ["When did A die?", "When did B die?"],
        ),
        (
            "[SUBQ] a b\n[SUBQ] a b\n[SUBQ] A b?\n[SUBQ] c\n[SUBQ] d\n[SUBQ] e",
            "SUBQ",
            ["a b", "c", "d"],
        ),
        ("[SUBQ]\nWho owns it?", "SUBQ", ["Who owns it?"]),
        (
            "1. SUBQ 1: Who owns it?\n2. SUBQ 2: Who was it?",
            "SUBQ",
            ["Who owns it?", "Who was it?"],
        ),
        ("[SUBQ] Who owns it?\n[ANSWER] Nobody [1]", "SUBQ", ["Who owns it?"]),
        ('{"search": ["Who owns it?"], "answer": ""}', "SUBQ", ["Who owns it?"]),
        ("[NOT FOUND] They name no price. [2]", "NOT_FOUND", "They name no price."),
        ("[NOT_FOUND]", "NOT_FOUND", ""),
        ("[NO_RETRIEVAL]", "NO_RETRIEVAL", ""),
        ("[ANSWER] Нарвик[2]", "ANSWER", "Нарвик"),
        ("[ANSWER] Lola (1981) [2]", "ANSWER", "Lola (1981)"),
        (
            "[ANSWER] First install it [1].\nThen set `a[0]` in X [2].",
            "ANSWER",
            "First install it.\nThen set `a[0]` in X.",
        ),
    ],
)
def test_a_step_is_read(text: str, label: str, said: object) -> None:
    read = parse_hop_reply(text)
    assert (read.label, read.problem) == (label, None)
    assert (list(read.subqueries) if label == "SUBQ" else read.text) == said


@pytest.mark.parametrize(
    "text",
    [
        "",
        "River Aach",
        "a | b | c [1]",
        "[ANSWER] [1]",
        "[SUBQ] ?!",
        "[SUFFICIENT]",
        "{}",
        "[SUBQ] old",
    ],
)
def test_a_reply_without_a_usable_step_says_why(text: str) -> None:
    read = parse_hop_reply(text, lambda subquery: subquery == "old")
    assert read.label is None and read.problem


def test_a_bar_within_a_name_is_part_of_it() -> None:
    assert spos("int|None | is a | type|union [1]") == [("int|None", "is a", "type|union")]
    assert spos("A|b|C [1]") == [("A", "b", "C")]


def test_facts_of_one_subject_may_share_a_line() -> None:
    read = parse_hop_reply("A B | born in | C [1]; knew | D | E, F [2, 4-5]; wrote | G [1]")
    assert [fact.spo for fact in read.facts] == [
        ("A B", "born in", "C"),
        ("knew", "D", "E, F"),
        ("knew", "wrote", "G"),
    ]
    assert list(read.facts[1].numbers) == [2, 4, 5]


@pytest.mark.parametrize(
    "text",
    ["| a | b | c |", "| --- | --- | --- |", "subject | predicate | object [1]", "- | - | -"],
)
def test_tables_and_placeholders_are_no_facts(text: str) -> None:
    assert parse_hop_reply(text).facts == []


@given(st.text(alphabet=st.sampled_from('[]()|;,1 9\n-SUBQANWERx:`{}"é')))
def test_any_text_is_read(text: str) -> None:
    read = parse_hop_reply(text)
    assert (read.label is None) == (read.problem is not None)
    assert len(read.subqueries) <= 3
    assert all(all(fact.spo) for fact in read.facts)


WORDS = st.text(alphabet="abcdefg ABC-éß", min_size=1).map(str.strip).filter(lambda w: w.isalpha())


@given(st.lists(st.tuples(WORDS, WORDS, WORDS, st.integers(1, 99)), max_size=8), WORDS)
def test_what_the_form_says_is_read_back(
    facts: list[tuple[str, str, str, int]], asked: str
) -> None:
    lines = [f"{s} | {p} | {o} [{n}]" for s, p, o, n in facts]
    read = parse_hop_reply("\n".join([*lines, f"[SUBQ] {asked}"]))
    assert [(*fact.spo, *fact.numbers) for fact in read.facts] == list(dict.fromkeys(facts))
    assert list(read.subqueries) == [asked]


@pytest.mark.parametrize("piece", [" ", "\t", "*", "_", '"', "answer:", "- ", "[1", "[ANSWER"])
@pytest.mark.parametrize("before", ["", "a | b | c ", "[ANSWER] ", "search"])
def test_a_model_that_repeats_itself_is_read_in_linear_time(before: str, piece: str) -> None:
    started = time.process_time()
    parse_hop_reply(before + piece * (100_000 // len(piece)) + "x")
    assert time.process_time() - started < 5, "quadratic time would take minutes"
