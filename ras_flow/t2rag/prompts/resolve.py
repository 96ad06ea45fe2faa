"""What a model is told that fills the slots of clues from what a round found."""

from __future__ import annotations

INSTRUCTION = """\
Find the unknowns of the clues (?name) in the numbered passages or facts. For each that they tell, \
write a line with clue, unknown, value and the numbers of what states it:
c1 ?director = Aino Laine [2]
Write names, dates and numbers in full, as they stand there; where several fit, a line for each, \
the likeliest first. Go on to clues that a value completes. For a clue marked (true?) write \
"c2 = yes [1]" or "c2 = no [1]". Leave out what they do not tell, even if you know it. Only if \
the clues cannot lead to an answer, add one: subject | predicate | ?name. If there is nothing to \
write, write: none"""

ANSWER = """
Once every clue is known, end with the answer to the question, {form}
answer = 2 June 1999"""
"""What is added where the resolver answers too."""

BRIEF = "as brief as it allows: a name, a date, a number, yes or no."

TRAINED_INSTRUCTION = "Fill the unknowns of the clues from the passages."
"""For a model that was trained with it, and knows the form."""
