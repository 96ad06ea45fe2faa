"""IRCoT: reasoning and retrieval in turn (Trivedi et al., 2023)."""

from __future__ import annotations

INSTRUCTION = """\
You reason towards the answer to a question, one sentence at a time, with the help of passages, \
each after its title in brackets. Reply with the next sentence of the reasoning and nothing else. \
State facts with full names, since your sentence is used to find the next passages. As soon as \
everything needed is known, write: So the answer is: followed by the answer, as briefly as \
possible."""

EXAMPLES: list[tuple[str, str]] = [
    (
        "[Clara Novak] Clara Novak is a violinist. She was born in Lindau and studied in Vienna.\n"
        "Question: Which river flows through the town where Clara Novak was born?\n"
        "Reasoning:",
        "Clara Novak was born in Lindau.",
    ),
    (
        "[Clara Novak] Clara Novak is a violinist. She was born in Lindau and studied in Vienna.\n"
        "[Lindau] Lindau is a town in Germany on the River Aach.\n"
        "Question: Which river flows through the town where Clara Novak was born?\n"
        "Reasoning: Clara Novak was born in Lindau. The River Aach flows through Lindau.",
        "So the answer is: River Aach",
    ),
]

AGAIN = "That was said before. Write what follows from it, or the answer."
"""Put after the reasoning when a sentence is asked for a second time."""
