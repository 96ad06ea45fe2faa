"""Multiple-choice questions: read in the forms in which they are published, written as one text."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase

from ras_flow.datasets.reading import Row


def read_choices(row: Row) -> tuple[str, list[str], int]:
    """Read a question with its options.

    Three forms are known: options as a list of texts with the right letter as ``answer``; AI2's
    with ``question.stem``, ``question.choices`` and ``answerKey``; and the flat one that Self-RAG
    uses, with a text as ``question`` and ``choices`` as lists of texts and labels.
    """
    if isinstance(row.value.get("choices"), list):
        stem, choices, key = row.text("question"), row.texts("choices"), "answer"
        labels = list(ascii_uppercase[: len(choices)])
    elif row.has("choices"):
        inner = Row(row.value["choices"], f"{row.where}:choices")
        stem, choices, key = row.text("question"), inner.texts("text"), "answerKey"
        labels = inner.texts("label")
    else:
        inner = Row(row.value.get("question"), f"{row.where}:question")
        options = inner.rows("choices")
        stem, choices, key = inner.text("stem"), [o.text("text") for o in options], "answerKey"
        labels = [option.text("label") for option in options]
    if not 2 <= len(choices) <= len(ascii_uppercase) or len(labels) != len(choices):
        row.fail("choices", "expected 2 to 26 options, each with a label")
    answer = row.text(key)
    if answer not in labels:
        row.fail(key, f"{answer!r} is not one of {', '.join(labels)}")
    return stem, choices, labels.index(answer)


def write_choices(question: str, choices: Sequence[str]) -> str:
    """Write a question with its options, as the planner and the answerer read it."""
    options = zip(ascii_uppercase, choices, strict=False)
    return "\n".join([question.strip(), *(f"{letter}. {text.strip()}" for letter, text in options)])
