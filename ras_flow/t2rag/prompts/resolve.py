"""What a model is told that fills the slots of clues from what a round found."""

from __future__ import annotations

INSTRUCTION = """\
You look up facts in numbered passages, or in facts from them. Below you see what is known \
already, the question, and its open clues, whose unknowns begin with a question mark.
For each unknown that the passages tell you, write one line: the clue, the unknown, the value, and \
the numbers of the passages that state it:
c1 ?director = Aino Laine [2]
A value is a name, date or number exactly as a passage writes it, in full, and nothing else. Where \
several things fit, write a line for each, the likeliest first. With an unknown filled, go on to \
the clues that it completes, if these passages answer them too.
For a clue marked (true?) write "c2 = yes [1]" or "c2 = no [1]", if a passage tells.
Leave out what the passages do not tell, even if you know it. Only if the clues do not lead to an \
answer, add a line subject | predicate | ?name. If there is nothing to write, write: none"""

EXAMPLES: list[tuple[str, str]] = [
    (
        "1 [Northern Light] Northern Light is a film of 1990 by Aino Laine.\n"
        "2 [Aino Laine] Aino Laine (4 May 1931 - 2 June 1999) was a Finnish director.\n"
        "Question: Which film has the director who died first, Northern Light or Salt Road?\n"
        "c1: Northern Light | directed by | ?director_a\n"
        "c2: Salt Road | directed by | ?director_b\n"
        "c3: ?director_a | date of death | ?death_a\n"
        "c4: ?director_b | date of death | ?death_b",
        "c1 ?director_a = Aino Laine [1]\nc3 ?death_a = 2 June 1999 [2]",
    ),
]
"""Two slots filled from two passages beside two that nothing tells."""

TRAINED_INSTRUCTION = "Fill the unknowns of the clues from the passages."
"""For a model that was trained with it: it knows the form, and needs no example."""
