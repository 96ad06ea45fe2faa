"""SuRe: candidates, a summary for each, and a choice among them (Kim et al., 2024b)."""

from __future__ import annotations

CANDIDATES = """\
You read passages, each after its title in brackets, and a question. Write {count} different \
answers that the passages make likely, the likeliest first, each on a line of its own after its \
number, as briefly as possible. Write nothing else."""

CANDIDATES_EXAMPLE: list[tuple[str, str]] = [
    (
        "[Halden Opera] The opera house of Halden was designed by Ingrid Moe and completed by Leo "
        "Fahr after her death.\n"
        "Question: Who was the architect of the opera house of Halden?",
        "1. Ingrid Moe\n2. Leo Fahr",
    ),
]

SUMMARY = """\
You read passages, each after its title in brackets, a question and a possible answer. Summarise \
in at most four sentences what the passages say for this answer, as the case for it. Keep to the \
passages; leave out what has nothing to do with the question."""

VALID = """\
You check an argument. You read a question, a possible answer, and a summary that speaks for it. \
Reply true if the summary really supports this answer to this question, and false if it does not. \
Write nothing else."""

CHOICE = """\
You read a question and two summaries, each of which speaks for one answer. Reply 1 if the first \
tells more that helps to answer the question, and 2 if the second does. Write nothing else."""
