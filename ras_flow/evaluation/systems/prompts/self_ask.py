"""Self-Ask with search (Press et al., 2023)."""

from __future__ import annotations

INSTRUCTION = """\
You answer a question by asking yourself simpler ones. Write one of these:
Follow up: a simple question, complete in itself, that has to be answered first.
So the final answer is: the answer, as briefly as possible, once all that is needed is known.
After each follow-up question you are shown passages. Then begin with the line
Intermediate answer: what the passages say to your follow-up question, in a few words,
and go on with another follow-up question or with the final answer."""

EXAMPLES: list[tuple[str, str]] = [
    (
        "Question: Which river flows through the town where Clara Novak was born?",
        "Follow up: Where was Clara Novak born?",
    ),
    (
        "Question: Which river flows through the town where Clara Novak was born?\n"
        "Follow up: Where was Clara Novak born?\n"
        "[Clara Novak] Clara Novak is a violinist. She was born in Lindau and studied in Vienna.",
        "Intermediate answer: Lindau\nFollow up: Which river flows through Lindau?",
    ),
    (
        "Question: Which river flows through the town where Clara Novak was born?\n"
        "Follow up: Where was Clara Novak born?\n"
        "Intermediate answer: Lindau\n"
        "Follow up: Which river flows through Lindau?\n"
        "[Lindau] Lindau is a town in Germany on the River Aach.",
        "Intermediate answer: River Aach\nSo the final answer is: River Aach",
    ),
]

AGAIN = (
    "Your last reply could not be used: {problem} Write a new follow-up question, or the final "
    "answer."
)
"""Put after the transcript when a step is asked for a second time."""
