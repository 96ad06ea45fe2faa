"""What models are told when HotpotQA-SUBQ is built (appendix C; wording ours), and their replies.

Readers of replies return what they read and what is wrong with it, or None; no reply raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ras_flow.formats.normalize import normalize_question
from ras_flow.formats.plan import parse_plan
from ras_flow.formats.text import scrub
from ras_flow.parts.prompted.prompting import ask, few_shot
from ras_flow.parts.records import Message

FILTER = """\
You are given a question and numbered texts. Some texts are needed to answer the question, others \
are not. Write the numbers of the texts that are needed, in the order in which somebody who knows \
none of them would have to find them, separated by commas. If none is needed, write: none. Write \
nothing else."""

FILTER_EXAMPLES = [
    (
        "Question: Which river flows through the town where Clara Novak was born?\n"
        "1. Lindau: Lindau is a town on the River Aach. It has a harbour.\n"
        "2. Novak Quartet: The Novak Quartet was founded by the brother of Clara Novak.\n"
        "3. Clara Novak: Clara Novak (born 1921 in Lindau) was a violinist.",
        "3, 1",
    ),
    (
        "Question: Who designed the headquarters of Halden Shipping?\n"
        "1. Halden Shipping: Halden Shipping is a company that resides in Pier House.\n"
        "2. Pier House: Pier House is an office building by the architect Ingrid Moe.",
        "1, 2",
    ),
]
"""A bridge whose texts come in the wrong order among one that is not needed, and two of two."""

SUBQUERY = """\
You are given a question that takes several searches, and one of the texts that hold its answer. \
Write the search question that this text answers and that brings one closer to answering the main \
question. Name things as far as the main question and the earlier searches have made them known; \
never give away what the text says. Do not repeat an earlier search. Write one short question and \
nothing else."""

SUBQUERY_EXAMPLES = [
    (
        "Main question: Which river flows through the town where Clara Novak was born?\n"
        "Earlier searches: none\n"
        "Text: Clara Novak: Clara Novak (born 1921 in Lindau) was a violinist.",
        "Where was Clara Novak born?",
    ),
    (
        "Main question: Which river flows through the town where Clara Novak was born?\n"
        "Earlier searches:\n- Where was Clara Novak born?\n"
        "Text: Lindau: Lindau is a town on the River Aach. It has a harbour.",
        "Which river flows through Lindau?",
    ),
]

AGAIN = "That cannot be used: {problem} Reply again."

_NAMED = re.compile(r"^(?:output|answer|texts?|numbers?)\s*:\s*", re.I)
_NONE = re.compile(r"\W*none\b", re.I)
_NUMBER = r"[\[(]?\d{1,9}[\])]?"
_NUMBERS = re.compile(rf"{_NUMBER}(?:\s*(?:,|;|and|&)\s*{_NUMBER})*\.?", re.I)


def filter_prompt(question: str, documents: Sequence[tuple[str, str]]) -> list[Message]:
    """Ask which documents are needed."""
    listed = [f"{at}. {_one_line(document)}" for at, document in enumerate(documents, start=1)]
    text = "\n".join([f"Question: {question}", *listed])
    return ask(few_shot(FILTER, FILTER_EXAMPLES), text)


def subquery_prompt(
    question: str, document: tuple[str, str], earlier: Sequence[str]
) -> list[Message]:
    """Ask for the subquery that a document answers."""
    listed = "\n".join(["Earlier searches:", *(f"- {subquery}" for subquery in earlier)])
    text = "\n".join(
        [
            f"Main question: {question}",
            listed if earlier else "Earlier searches: none",
            f"Text: {_one_line(document)}",
        ]
    )
    return ask(few_shot(SUBQUERY, SUBQUERY_EXAMPLES), text)


def again(prompt: Sequence[Message], reply: str, problem: str) -> list[Message]:
    """Ask once more after a reply that could not be used."""
    return [
        *prompt,
        {"role": "assistant", "content": reply.strip() or "(nothing)"},
        {"role": "user", "content": AGAIN.replace("{problem}", problem)},
    ]


def _one_line(document: tuple[str, str]) -> str:
    return " ".join(f"{document[0]}: {document[1]}".split())


def read_numbers(text: str, *, count: int) -> tuple[list[int], str | None]:
    """Read which documents are needed."""
    line = _NAMED.sub("", _first_line(text))
    if _NONE.match(line):
        return [], None
    numbers = [int(n) for n in re.findall(r"\d+", line)] if _NUMBERS.fullmatch(line) else []
    if not numbers or any(not 1 <= n <= count for n in numbers):
        return [], f"Write numbers from 1 to {count}, separated by commas, or: none."
    return list(dict.fromkeys(numbers)), None


def read_subquery(text: str, *, earlier: Iterable[str]) -> tuple[str, str | None]:
    """Read a subquery."""
    plan = parse_plan(f"[SUBQ] {scrub(_first_line(text))}")
    if plan.label != "SUBQ":
        return "", "Write one short question."
    if normalize_question(plan.subquery) in map(normalize_question, earlier):
        return "", "This was asked before. Ask what the text adds."
    return plan.subquery, None


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.split("\n") if line.strip()), "")
