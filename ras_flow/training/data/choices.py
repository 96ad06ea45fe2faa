"""Multiple-choice questions as one text, options behind letters."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_uppercase


def write_choices(question: str, choices: Sequence[str]) -> str:
    """Write a question with its options, as the planner and the answerer read it.

    Args:
        question: The question's stem.
        choices: The options in order, at most 26.

    Returns:
        The stem, then one line for each option: "A. ...".
    """
    options = zip(ascii_uppercase, choices, strict=False)
    return "\n".join([question.strip(), *(f"{letter}. {text.strip()}" for letter, text in options)])
