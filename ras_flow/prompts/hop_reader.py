"""What a model is told that reads a hop, notes its facts and names the next step in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ras_flow.prompts.extractor import FACTS

_TASK = """\
You answer a question from documents, which you search step by step, first for the question \
itself. You see your notes of each search, and the numbered passages that the last one newly \
found."""

_MEMORY = {
    "facts": " Passages are shown once: later you see your notes alone.",
    "passages": "",
    "both": "",
}
"""What is said of earlier passages, by the setting ``reads``."""

_FACTS = """\
First note the facts in the new passages that the question or a later step may need, if any, eight \
at most, one a line:
subject | predicate | object [number of its passage]
Write names in full as the passage does, dates and numbers exactly. Where the question can mean \
several things, note the fact for each."""

_STEP = """\
Then write one step, and nothing after it:
[SUBQ] a short search question for a missing fact, with names in full. Up to three such lines, \
where none needs the result of another.
[ANSWER] the answer, then the numbers of the passages that it rests on, in brackets.
[NOT FOUND] {otherwise}, as soon as one search for the missing fact itself did not find \
it: the same search in other words finds the same."""

_KNOWN = """
[NO_RETRIEVAL] the answer, if any well-read person knows it and no passage speaks of it."""

_FORM = """\
The answer is only the words that were asked for: a name, a date, a number without a unit that the \
question names, a cause in a word or two, yes or no."""

_OTHERWISE = {
    False: "what comes nearest in the documents, in one sentence",
    True: "your best guess, in the form of an answer",
}

_JSON = """\
Write facts and step as one JSON object: "facts", a list of objects with "subject", "predicate", \
"object" and "passages" (numbers); and the step, as one of "search" (up to three questions), \
"answer" with its "passages", {steps}. Leave the other fields empty."""


def instruction(
    *, reads: str, guess: bool, known: bool = False, form: str = "", json: bool = False
) -> str:
    """Return the instruction, the same at each call of a run; ``form`` says how to answer."""
    step = _STEP.replace("{otherwise}", _OTHERWISE[guess]) + _KNOWN * known
    parts = [_TASK + _MEMORY[reads], _FACTS, step, form or _FORM]
    if json:
        rest = '"not_found" or "no_retrieval"' if known else 'or "not_found"'
        parts.append(_JSON.replace("{steps}", rest))
    return "\n".join(parts)


EXAMPLES: list[tuple[str, str]] = [
    (
        "Question: Which river flows through the town where Clara Novak was born?\n"
        "Clara Novak | profession | violinist [1]; born in | Lindau [1]\n"
        "Search: Which river flows through Lindau?\n"
        "4 [Lindau] Lindau is a town in Germany on the River Aach.",
        "Lindau | lies on | River Aach [4]\n[ANSWER] River Aach [1, 4]",
    ),
]
"""A note and a new passage that lead to the answer."""

_OTHER_FIELDS: dict[str, Any] = {
    "search": {"type": "array", "items": {"type": "string"}},
    "answer": {"type": "string"},
    "passages": {"type": "array", "items": {"type": "integer"}},
    "not_found": {"type": "string"},
}


def schema(*, known: bool = False) -> dict[str, Any]:
    """Return the JSON schema of a reply, within what strict servers take."""
    fields = {"facts": FACTS, **_OTHER_FIELDS}
    if known:
        fields["no_retrieval"] = {"type": "string"}
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def as_json(facts: Mapping[str, Any], *, known: bool = False) -> Mapping[str, Any]:
    """Fill the fields that a step leaves empty."""
    fields = schema(known=known)["properties"].items()
    empty = {name: [] if field["type"] == "array" else "" for name, field in fields}
    return {**empty, **facts}
