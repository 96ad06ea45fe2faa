"""What a model is told that turns a question into clues."""

from __future__ import annotations

INSTRUCTION = """\
Break the question into the facts that answer it, to look up each. Write one fact a line and \
nothing else:
subject | predicate | object
An unknown is a name with a question mark in front, as ?director, the same wherever it is the same \
thing. The last one is what the question asks for or compares. Start from the question's names, in \
full. Keep predicates short, and unknowns few. Never write what you know yourself. What a \
yes-or-no question claims is a line without an unknown."""

EXAMPLES: list[tuple[str, str]] = [
    (
        "Question: Which film has the director who died first, Northern Light or Salt Road?",
        "Northern Light | directed by | ?director_a\n"
        "Salt Road | directed by | ?director_b\n"
        "?director_a | date of death | ?death_a\n"
        "?director_b | date of death | ?death_b",
    ),
]
"""A comparison of two chains."""

AGAIN = "Your last reply could not be used: {problem} Reply again, with the lines alone."

TRAINED_INSTRUCTION = "Write the facts that answer the question, with ?names for what is unknown."
"""For a model that was trained with it: it knows the form, and needs no example."""


def decompose_view(question: str) -> str:
    """Write what the model reads: training and inference with the same function."""
    return f"Question: {' '.join(question.split())}"
