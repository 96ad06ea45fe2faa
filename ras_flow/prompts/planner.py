"""What the planner is told (INST_Plan, eq. 1 and 2; few-shot form as in appendix F.1)."""

from __future__ import annotations

_TASK = """\
You plan the search for facts that answer a question. Reply with exactly one of these lines:
[SUBQ] followed by one short search question, if a fact is still missing.
[SUFFICIENT] if the retrieved graph information already answers the question.
"""
_RULES = "\nNever repeat an earlier search question, not even in similar words. Write nothing else."

INSTRUCTION = f"""\
{_TASK}[NO_RETRIEVAL] if no search is needed because any well-read person knows the answer, or if \
no document could hold it.{_RULES}"""

OPEN_INSTRUCTION = f"""\
{_TASK}[NOT FOUND] if searches for it found nothing and another would not either.{_RULES}"""
"""For a run that began with a search: the documents may not answer the question."""

FIRST_EXAMPLES: list[tuple[str, str]] = [
    (
        "Question: Which river flows through the town where Clara Novak was born?",
        "[SUBQ] Which river flows through the town where Clara Novak was born?",
    ),
    ("Question: How many days are there in a week?", "[NO_RETRIEVAL]"),
    ("Question: Write a short poem about the sea.", "[NO_RETRIEVAL]"),
    (
        "Question: Who designed the headquarters of Halden Shipping?",
        "[SUBQ] Who designed the headquarters of Halden Shipping?",
    ),
]
"""Examples of p_0: two that need facts, common knowledge, and nothing to be looked up.

Nothing is known yet, so [SUFFICIENT] is not among the outcomes.
"""

NEXT_EXAMPLES: list[tuple[str, str]] = [
    (
        "[SUBQ] Which river flows through the town where Clara Novak was born?\n"
        "Retrieved Graph Information: (S> Clara Novak| P> profession| O> violinist), "
        "(S> Clara Novak| P> place of birth| O> Lindau)\n"
        "Question: Which river flows through the town where Clara Novak was born?",
        "[SUBQ] Which river flows through Lindau?",
    ),
    (
        "[SUBQ] Who designed the headquarters of Halden Shipping?\n"
        "Retrieved Graph Information: (S> Halden Shipping| P> headquarters| O> Pier House), "
        "(S> Pier House| P> architect| O> Ingrid Moe)\n"
        "Question: Who designed the headquarters of Halden Shipping?",
        "[SUFFICIENT]",
    ),
    (
        "[SUBQ] Are the films Northern Light and Salt Road by directors of the same country?\n"
        "Retrieved Graph Information: (S> Northern Light| P> director| O> Aino Laine), "
        "(S> Aino Laine| P> country of citizenship| O> Finland)\n"
        "Question: Are the films Northern Light and Salt Road by directors of the same country?",
        "[SUBQ] Who directed Salt Road?",
    ),
    (
        "[SUBQ] How tall is the lighthouse of Brage?\n"
        "Retrieved Graph Information: (S> Brage| P> instance of| O> island), "
        "(S> Brage| P> county| O> Nordland)\n"
        "Question: How tall is the lighthouse of Brage?",
        "[SUBQ] List of lighthouses in Nordland by height",
    ),
]
"""Examples of p_{i+1}: a bridge to follow, a graph that suffices, a side that is missing, and a
search that found nothing to the point."""

AGAIN = "Your last reply could not be used: {problem} Reply again, with one line."
"""Put after the history when a plan is asked for a second time."""
