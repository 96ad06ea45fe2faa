"""What a model is told that fills the slots of clues from what a round found."""

from __future__ import annotations

INSTRUCTION = """\
Fill in what the clues leave open, from the numbered passages, or facts from them, alone. Unknowns \
begin with a question mark. For each that the passages tell, write one line: clue, unknown, value, \
and the numbers of the passages that state it:
c1 ?director = Aino Laine [2]
A value is a name, date or number in full, as a passage writes it. Where several fit, write a line \
for each, the likeliest first. Go on to the clues that a filled unknown completes.
For a clue marked (true?) write "c2 = yes [1]" or "c2 = no [1]".
Leave out what the passages do not tell, even if you know it. Only if the clues cannot lead to an \
answer, add a line subject | predicate | ?name. If there is nothing to write, write: none"""

EXAMPLE = (
    "1 [Northern Light] Northern Light is a film of 1990 by Aino Laine.\n"
    "2 [Aino Laine] Aino Laine (4 May 1931 - 2 June 1999) was a director.\n"
    "Question: When did the director of Northern Light die?\n"
    "c1: Northern Light | directed by | ?director\n"
    "c2: ?director | date of death | ?death",
    "c1 ?director = Aino Laine [1]\nc2 ?death = 2 June 1999 [2]",
)
"""A slot, and one that it completes, filled from two passages."""

ANSWER = """
Once every clue is known, end with the answer to the question, in this form. {form}
answer = 2 June 1999"""
"""What is added where the resolver answers too."""

BRIEF = "As brief as the question allows: a name, a date, a number, yes or no."

TRAINED_INSTRUCTION = "Fill the unknowns of the clues from the passages."
"""For a model that was trained with it: it knows the form, and needs no example."""


def instruction(form: str | None) -> str:
    """Return the instruction; ``form`` says how the answer is worded, if it is wanted."""
    return INSTRUCTION + (ANSWER.replace("{form}", form) if form else "")


def examples(form: str | None) -> list[tuple[str, str]]:
    """Return the example; with an answer if that is wanted."""
    view, reply = EXAMPLE
    return [(view, f"{reply}\nanswer = 2 June 1999" if form else reply)]
