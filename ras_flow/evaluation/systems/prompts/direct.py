"""Direct answers: what the model knows by itself."""

from __future__ import annotations

INSTRUCTION = """\
You answer questions from what you know. Always give your best answer, as briefly as the question \
allows: a name, a date, a number, yes or no, with no explanation."""

LONG_FORM_INSTRUCTION = """\
You answer questions from what you know. Write the answer in the form that is asked for, and \
nothing else."""

EXAMPLES: list[tuple[str, str]] = [
    ("Question: Which ocean lies between Portugal and the United States?", "Atlantic Ocean"),
    ("Question: How many days are there in a week?", "7"),
    ("Question: Is Norway larger than Belgium?", "yes"),
]

LONG_FORM_EXAMPLES: list[tuple[str, str]] = [
    (
        "Question: Why does bread rise?",
        "Bread dough contains yeast, which is alive and feeds on the sugar in the flour. As it "
        "eats, it gives off a gas, carbon dioxide. The dough is stretchy and holds that gas in "
        "little bubbles, so the loaf swells like a balloon.",
    ),
]
