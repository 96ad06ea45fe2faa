"""What a model is told that reads a hop, notes its facts and names the next step in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TASK = """\
You answer a question from documents, which you search step by step. You see the question, the \
notes you took from each earlier search, and the numbered passages that the last search newly \
found."""

_MEMORY = {
    "facts": " Passages are shown only once: later you see your notes alone.",
    "passages": "",
    "both": "",
}
"""What is said of earlier passages, by the setting ``reads``."""

_FACTS = """\
First note the facts in the new passages that the question may need, eight at most, also those \
that only a later step may need. Write none where no passage helps. One a line:
subject | predicate | object [number of its passage]
Take each fact from one passage. Write names in full and as the passage writes them, and dates, \
numbers and places exactly. Where it is open which of several things the question means, note the \
fact for each of them."""

_STEP = """\
Then write one step, and nothing after it:
[SUBQ] a short search question for a fact that is still missing, with names in full. Up to three \
such lines, where the facts can be looked up independently of each other.
[ANSWER] the answer, then the numbers of the passages that it rests on, in brackets.
[NOT FOUND] {otherwise}, if searches for it found nothing and another would not either."""

_FORM = """\
The answer is only the words that were asked for: a name, a date, a number without its unit where \
the question names the unit, a cause in a word or two, yes or no."""

_OTHERWISE = {
    False: "what the documents say that comes nearest, in one sentence",
    True: "your best guess, in the form of an answer",
}

_JSON = """\
Write facts and step as one JSON object: "facts", a list of objects with "subject", "predicate", \
"object" and "passages" (numbers); and the step, as one of "search" (up to three questions), \
"answer" with its "passages", or "not_found". Leave the other fields empty."""


def instruction(*, reads: str, guess: bool, form: str = "", json: bool = False) -> str:
    """Return the instruction, the same at each call of a run; ``form`` says how to answer."""
    step = _STEP.replace("{otherwise}", _OTHERWISE[guess])
    parts = [_TASK + _MEMORY[reads], _FACTS, step, form or _FORM]
    return "\n".join([*parts, _JSON] if json else parts)


EXAMPLES: list[tuple[str, str]] = [
    (
        "Question: Which film has the director who died first, Northern Light or Salt Road?\n"
        "Search: Which film has the director who died first, Northern Light or Salt Road?\n"
        "1 [Northern Light] Northern Light is a film of 1990 by Aino Laine, shot by Eero Salo.\n"
        "2 [Salt Road (film)] Salt Road is a film that Per Holm directed in 1987.",
        "Northern Light | directed by | Aino Laine [1]\n"
        "Salt Road (film) | directed by | Per Holm [2]\n"
        "[SUBQ] When did the film director Aino Laine die?\n"
        "[SUBQ] When did the film director Per Holm die?",
    ),
    (
        "Question: Which river flows through the town where Clara Novak was born?\n"
        "Search: Which river flows through the town where Clara Novak was born?\n"
        "Clara Novak | born in | Lindau [1]; profession | violinist [1]\n"
        "Search: Which river flows through Lindau?\n"
        "3 [Lindau] Lindau is a town in Germany on the River Aach.\n"
        "4 [Lake Aach] Lake Aach is a lake in Norway.",
        "Lindau | lies on | River Aach [3]\n[ANSWER] River Aach [1, 3]",
    ),
]
"""A comparison whose sides are looked up side by side, and a bridge that leads to the answer."""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "subject": {"type": "string"},
                    "predicate": {"type": "string"},
                    "object": {"type": "string"},
                    "passages": {"type": "array", "items": {"type": "integer"}},
                },
                "required": ["subject", "predicate", "object", "passages"],
                "additionalProperties": False,
            },
        },
        "search": {"type": "array", "items": {"type": "string"}},
        "answer": {"type": "string"},
        "passages": {"type": "array", "items": {"type": "integer"}},
        "not_found": {"type": "string"},
    },
    "required": ["facts", "search", "answer", "passages", "not_found"],
    "additionalProperties": False,
}
"""JSON schema of a reply, within what strict servers take."""


def as_json(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """Fill the fields that a step leaves empty."""
    return {"facts": [], "search": [], "answer": "", "passages": [], "not_found": "", **facts}
