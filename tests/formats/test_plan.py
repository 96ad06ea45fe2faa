from __future__ import annotations

import re
import time

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ras_flow.errors import InputError
from ras_flow.formats.plan import ParsedPlan, clean_subquery, format_plan, parse_plan

WHO = "Who founded Pick Motor Company?"


def test_the_three_forms():
    assert format_plan("SUBQ", WHO) == f"[SUBQ] {WHO}"
    assert format_plan("SUFFICIENT") == "[SUFFICIENT]"
    assert format_plan("NO_RETRIEVAL") == "[NO_RETRIEVAL]"
    assert parse_plan(f"[SUBQ] {WHO}") == ParsedPlan("SUBQ", WHO, None, wants_subquery=True)
    assert parse_plan("[SUFFICIENT]") == ParsedPlan("SUFFICIENT")


LABELS = [
    "[SUBQ]",
    "[subq]",
    "[ SUBQ ]",
    "[SUBQUERY]",
    "[[SUBQ]]",
    "<SUBQ>",
    "[SUBQ 1]",
    "[SUBQ_1]:",
]
LABELS += [
    "【SUBQ】",
    "［SUBQ］：",
    "**[SUBQ]**",
    "**[SUBQ]:**",
    "\\[SUBQ\\]",
    "- [SUBQ]",
    "1. [SUBQ]",
]
LABELS += [
    "Output: [SUBQ]",
    "Output:\n[SUBQ]",
    "**Label:** [SUBQ]",
    "Sure! [SUBQ]",
    "[SUBQ] [SUBQ]",
]
LABELS += [
    "Here is my plan:\n\n1. [SUBQ]",
    "```text\n[SUBQ]",
    "It is not [SUFFICIENT] yet.\n[SUBQ]",
]
LABELS += ["SUBQ:", "SUBQ：", "SUBQ 1:", "**SUBQ:**", "- SUBQ:", "1. **SUBQ:**", "Output:\nSUBQ:"]
LABELS += [f"<{tag}>Is it\n[SUFFICIENT]? No.</{tag}>[SUBQ]" for tag in ("think", "seed:think")]
LABELS += ["It may be [SUFFICIENT]\n[SUFFICIENT]</think>\n\n[SUBQ]", "\x00[SUBQ]\x07"]
AFTER = ["{}", "- {}", '"{}"', "“{}”", "‘{}’", "«{}»", "**{}**", "__{}__", "Question: {}"]
AFTER += ["Sub-query: {}", '"Question: {}"']


@pytest.mark.parametrize("label", LABELS)
def test_a_subquery_is_read_after_any_label_and_in_any_quotes(label: str) -> None:
    for after in AFTER:
        text = f"{label} {after.format(WHO)}"
        assert parse_plan(text) == ParsedPlan("SUBQ", WHO, None, wants_subquery=True), text


@pytest.mark.parametrize(
    "text",
    [
        f"[SUBQ]{WHO}",
        f"[SUBQ]\n\n  {WHO}\nBecause the founder is unknown.",
        f"[SUBQ]\nQuestion: {WHO}",
        f"«[SUBQ] {WHO}»",
        f"**[SUBQ] {WHO}**",
        f"`[SUBQ] {WHO}`",
        f"```\n[SUBQ] {WHO}\n```",
        f"[SUBQ] {WHO}\n[SUBQ] Where is Stamford?",
        f"[SUBQ] {WHO} [SUBQ] Where is Stamford?",
        f"[SUBQ] {WHO}\r\nRetrieved Graph Information: (S> a| P> b| O> c)\r\n[SUFFICIENT]",
        f"[SUBQ] {WHO}\n[PREV_GRAPH_INFO] []\n[SUFFICIENT]",
        f"SUBQ {WHO}",
        f"SUBQ\n{WHO}",
        f"### SUBQ\n{WHO}",
        f"[SUBQ: {WHO}]",
        f"**[SUBQ: {WHO}]**",
        f"【SUBQ：{WHO}】",
        f"[SUBQ {WHO}]",
        f"[SUBQ: {WHO}",
        f"<SUBQ>{WHO}</SUBQ>",
        f"The founder is not in the graph.\n\n**SUBQ:** {WHO}",
    ],
)
def test_subquery_is_read(text):
    assert parse_plan(text) == ParsedPlan("SUBQ", WHO, None, wants_subquery=True)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("[Sufficient]", "SUFFICIENT"),
        ("[SUFFICIENT].", "SUFFICIENT"),
        ("[SUFFICIENT] The graph names the founder.", "SUFFICIENT"),
        ("[SUFFICIENT]\n[SUFFICIENT]", "SUFFICIENT"),
        ("[SUFFICIENT]\nRetrieved Graph Information: none\n[SUBQ] Who?", "SUFFICIENT"),
        ("**[SUFFICIENT]**", "SUFFICIENT"),
        ("SUFFICIENT", "SUFFICIENT"),
        ("Sufficient.", "SUFFICIENT"),
        ("\n\n`sufficient`\n", "SUFFICIENT"),
        ("«SUFFICIENT»", "SUFFICIENT"),
        ("Label: SUFFICIENT", "SUFFICIENT"),
        ("[NO RETRIEVAL]", "NO_RETRIEVAL"),
        ("[NO-RETRIEVAL]", "NO_RETRIEVAL"),
        ("[no_retrieval]", "NO_RETRIEVAL"),
        ("[NO\\_RETRIEVAL]", "NO_RETRIEVAL"),
        ("NO_RETRIEVAL", "NO_RETRIEVAL"),
        ("Output: No retrieval", "NO_RETRIEVAL"),
        ("```\nNO_RETRIEVAL\n```", "NO_RETRIEVAL"),
        ("[SUFFICIENT: the graph names the founder]", "SUFFICIENT"),
        ("SUFFICIENT: the graph names the founder.", "SUFFICIENT"),
        ("**SUFFICIENT** - The graph names the founder.", "SUFFICIENT"),
        ("- SUFFICIENT", "SUFFICIENT"),
        ("NO_RETRIEVAL: any reader knows.", "NO_RETRIEVAL"),
        ("So far:\n- Subquery: Who founded it?\nThat is known.\n[SUFFICIENT]", "SUFFICIENT"),
    ],
)
def test_labels_without_subquery_are_read(text, label):
    assert parse_plan(text) == ParsedPlan(label)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "insufficient",
        "Insufficient.",
        "[INSUFFICIENT]",
        "not sufficient",
        "Not sufficient.",
        "The information is sufficient",
        "The information is sufficient to answer.\nSUFFICIENT",
        "The information is not [SUFFICIENT] to answer.",
        "This isn't **[SUFFICIENT]**.",
        "No retrieval was made so far.",
        "Sufficient information is missing: the founder.",
        "The facts are not [SUFFICIENT: the founder is missing].",
        "I thought about it.\n\nSUBQ:",
        "What was asked so far:\nSubquery: Who founded it?\nThe founder is known.",
        "Output [SUFFICIENT] if the question can be answered with the provided information.",
        "[PREV_SUBQ] Who founded it?",
        WHO,
        "SUFFICIENTLY",
        "<think>[SUFFICIENT]</think>",
        "<think>The label must be\n[SUFFICIENT]",
    ],
)
def test_no_label(text):
    plan = parse_plan(text)
    assert plan.label is None
    assert not plan.wants_subquery
    assert "[SUBQ], [SUFFICIENT] or [NO_RETRIEVAL]" in plan.problem


@pytest.mark.parametrize(
    "text",
    [
        "[SUFFICIENT]\n[SUBQ] Who founded it?",
        "[SUBQ] Who founded it?\n[SUFFICIENT]",
        "[SUBQ] Who? [NO_RETRIEVAL]",
        "SUFFICIENT\n[SUBQ] Who?",
        "[SUBQ], [SUFFICIENT], [NO_RETRIEVAL]",
    ],
)
def test_different_labels_conflict(text):
    plan = parse_plan(text)
    assert (plan.label, plan.subquery) == (None, "")
    assert "several different labels" in plan.problem


@pytest.mark.parametrize(
    "text",
    [
        "[SUBQ]",
        "[SUBQ] \n ",
        '[SUBQ] ""',
        "SUBQ:",
        "[SUBQ]\nRetrieved Graph Information: none",
        "[SUBQ] ?",
        "[SUBQ] ...\n[SUBQ] -",
        "[SUBQ] \u2060",
    ],
)
def test_missing_subquery_is_a_problem_but_wanted(text):
    plan = parse_plan(text)
    assert (plan.label, plan.subquery, plan.wants_subquery) == (None, "", True)
    assert "no subquery" in plan.problem


def test_overlong_subquery_is_a_problem_but_wanted():
    assert parse_plan("[SUBQ] " + "x" * 400).subquery == "x" * 400
    plan = parse_plan("[SUBQ] " + "x" * 401)
    assert (plan.label, plan.subquery, plan.wants_subquery) == (None, "", True)
    assert "too long" in plan.problem


def test_inner_quotes_and_colons_survive():
    for subquery in (
        '"Imagine" and "Yesterday" were sung by whom?',
        'Who sang "Imagine"',
        "Who sang 'Imagine'?",
        '"Imagine" or "Yesterday"',
        "Who is 6'2\"",
        "Who sang Imagine”",
        "-5 degrees is the record of which town?",
        "Who wrote Dune: Messiah - and which question: his own?",
    ):
        assert parse_plan(f"[SUBQ] {subquery}").subquery == subquery
        assert parse_plan(f"[SUBQ] Question: {subquery}").subquery == subquery


@pytest.mark.parametrize(
    "arguments",
    [("SUBQ",), ("SUBQ", " \n"), ("SUBQ", "?!"), ("SUBQ", "x" * 401), ("SUFFICIENT", "Who?")],
)
def test_format_rejects_plans_that_could_not_be_read_back(arguments):
    with pytest.raises(InputError):
        format_plan(*arguments)


PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            "[SUBQ] [SUFFICIENT] [NO_RETRIEVAL] [SUBQ: [/SUBQ] <SUBQ> [ ] SUBQ 1 ] SUBQ : "
            "sufficient <think> </think> <th ink> Question: ** * \" ' “ ” ` ``` \\ - Output: "
            "who is".split()
            + [" ", "\n", "\x85", "\x00", "\u2028"]
        ),
        st.text(max_size=5),
    ),
    max_size=15,
).map("".join)


@given(PIECES)
@example('**"\'"**')
def test_format_round_trips(text):
    assume("</think>" not in text)  # What is before it may be a thought.
    cleaned = clean_subquery(text)
    assert clean_subquery(cleaned) == cleaned
    if any(map(str.isalnum, cleaned)) and len(cleaned) <= 400:
        assert parse_plan(format_plan("SUBQ", text)) == ParsedPlan(
            "SUBQ", cleaned, None, wants_subquery=True
        )


@given(PIECES)
@example("SUBQ:SUBQ[SUBQ]")
def test_any_text_has_an_outcome(text):
    plan = parse_plan(text)
    assert (plan.label is None) == (plan.problem is not None)
    assert bool(plan.subquery) == (plan.label == "SUBQ")
    assert len(plan.subquery.splitlines()) <= 1
    assert not plan.subquery or any(map(str.isalnum, plan.subquery))
    assert not re.search(r"\[\s*(SUBQ|SUFFICIENT|NO.RETRIEVAL)\s*\]", plan.subquery, re.IGNORECASE)


HOSTILE = [
    "[",
    "[SUBQ]",
    "<think>",
    '"',
    ": ",
    "\\",
    "\\[",
    "[SUBQ]\n\n",
    "**",
    "Output: ",
    "- ",
    "<",
]
HOSTILE += ["sub q ", "[SUBQ:", "[SUBQ: \n", "sufficient ", "“", "__"]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_linear_time(piece):
    text = piece * (200_000 // len(piece))
    started = time.process_time()
    parse_plan(text)
    clean_subquery(text)
    assert time.process_time() - started < 60, "quadratic time would take minutes"
