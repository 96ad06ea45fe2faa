"""What the answerer is told (INST_Ans, eq. 7 and 8; few-shot form as in appendix F.1)."""

from __future__ import annotations

from ras_flow.formats.answer import UNKNOWN_ANSWER

_READ = """\
You answer a question. Lines that start with [SUBQ] are searches that were made for it, each with \
the facts that were found. Use the facts that help and ignore the others."""
_BRIEF = """\
Answer as briefly as the question allows: a name, a date, a number, yes or no, with no \
explanation."""
_LONG = "Write the answer in the form that is asked for, and nothing else."
_GUESS = "Always give your best answer."
_SAY_SO = f"""\
Where searches were made and what they found does not hold the answer, do not guess: reply only \
"{UNKNOWN_ANSWER}\""""

INSTRUCTIONS = {
    ("guess", False): f"{_READ} {_GUESS} {_BRIEF}",
    ("guess", True): f"{_READ} {_LONG}",
    ("say so", False): f"{_READ} {_BRIEF} {_SAY_SO}",
    ("say so", True): f"{_READ} {_LONG} {_SAY_SO}",
}
"""By what to do when the answer is unknown, and whether the answer is a text."""

EXAMPLES: list[tuple[str, str]] = [
    (
        "[SUBQ] Which river flows through the town where Clara Novak was born?\n"
        "Retrieved Graph Information: (S> Clara Novak| P> place of birth| O> Lindau)\n"
        "[SUBQ] Which river flows through Lindau?\n"
        "Retrieved Graph Information: (S> Lindau| P> country| O> Germany), "
        "(S> Lindau| P> located on| O> River Aach)\n"
        "Question: Which river flows through the town where Clara Novak was born?",
        "River Aach",
    ),
    ("Question: How many days are there in a week?", "7"),
]
"""A two-hop question answered from its graph, and one answered without a graph."""

UNKNOWN_EXAMPLE = (
    "[SUBQ] When was the bridge of Halden painted?\n"
    "Retrieved Graph Information: (S> Halden Old Bridge| P> opened| O> 1898)\n"
    "Question: When was the bridge of Halden painted?",
    UNKNOWN_ANSWER,
)
"""A question whose answer was not found, for models that may say so."""

LONG_FORM_EXAMPLES: list[tuple[str, str]] = [
    (
        "[SUBQ] When was the bridge of Halden opened?\n"
        "Retrieved Graph Information: (S> Halden Old Bridge| P> opened| O> 1898), "
        "(S> Halden New Bridge| P> opened| O> 1974), "
        "(S> Halden New Bridge| P> replaced| O> Halden Old Bridge)\n"
        "Question: When was the bridge of Halden opened?",
        "Halden has had two bridges. The Old Bridge was opened in 1898. The New Bridge, which "
        "replaced it, was opened in 1974.",
    ),
    (
        "[SUBQ] Why does bread rise?\n"
        "Retrieved Graph Information: (S> yeast| P> feeds on| O> sugar), "
        "(S> yeast| P> gives off| O> carbon dioxide), (S> dough| P> contains| O> yeast)\n"
        "Question: Why does bread rise?",
        "Bread dough contains yeast, which is alive and feeds on the sugar in the flour. As it "
        "eats, it gives off a gas, carbon dioxide. The dough is stretchy and holds that gas in "
        "little bubbles, so the loaf swells like a balloon.",
    ),
]
"""A question with two readings, and an explanation (two examples for ASQA and ELI5)."""
