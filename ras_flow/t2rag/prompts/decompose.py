"""What a model is told that turns a question into clues."""

from __future__ import annotations

INSTRUCTION = """\
Break the question into the facts that answer it, to look up each: one a line, and nothing else. \
For "When did the director of Salt Road die?":
Salt Road | directed by | ?director
?director | date of death | ?death
Name every unknown, the same thing by the same name. The last one is what the question asks for, \
or what has to be compared. Start from the question's names, in full. Keep predicates short, and \
unknowns few. Never write what you know yourself. What a yes-or-no question claims is a line \
without an unknown."""

AGAIN = "Your last reply could not be used: {problem} Reply again, with the lines alone."

TRAINED_INSTRUCTION = "Write the facts that answer the question, with ?names for what is unknown."
"""For a model that was trained with it, and knows the form."""


def decompose_view(question: str) -> str:
    """Write what the model reads: training and inference with the same function."""
    return f"Question: {' '.join(question.split())}"
