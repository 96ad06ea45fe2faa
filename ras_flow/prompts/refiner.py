"""What a model is told that cleans candidate paths (ReG, figure 6), and how its reply is read."""

from __future__ import annotations

import re
from collections.abc import Sequence

INSTRUCTION = """\
You get a question, its answers, and numbered paths of a knowledge graph. Choose the paths that \
help to answer the question:
1. Choose a path if its relations mean what words of the question mean.
2. Reject a path that tells only unrelated details, or that reaches the answer in a way that the \
question does not ask for.
Say briefly why. Then write one line `ans: Path N` for each path that you choose, or `ans: none`."""

EXAMPLE = (
    """\
Paths:
Path 0. Halden Shipping → [headquarters] → Pier House → [architect] → Ingrid Moe
Path 1. Halden Shipping → [city] → Brage → [notable resident] → Ingrid Moe
Path 2. Halden Shipping → [founded] → 1911
Path 3. Ingrid Moe → [born] → 1880
Path 4. Pier House → [floors] → 9

Question:
Who designed the headquarters of Halden Shipping, a house of nine floors?

Answer(s):
Ingrid Moe""",
    """\
The question asks who designed a building, which is the headquarters of the company and has nine \
floors. Path 0 goes from the company to its headquarters and their architect. Path 4 gives the \
number of floors. Path 1 reaches the answer through the city where both happen to be. Paths 2 and \
3 are dates that nobody asks for.
ans: Path 0
ans: Path 4""",
)
"""Shows both criteria: a way that fits, a detail that the question names, and a shortcut."""

AGAIN = "\n\nEnd with lines of the form `ans: Path N`, or with `ans: none`."
"""Added where a first reply names no path."""

_ITEM = re.compile(r"[\s,;&*`]*(?:and\s+)?(?:paths?\b\s*)?[#\[(]?(\d+)\b[\])]?", re.IGNORECASE)
_LINE = re.compile(r"^[\W_]*ans(?:wer)?\W*:(.*)$", re.IGNORECASE | re.MULTILINE)
_NONE = re.compile(r"\W*none\b", re.IGNORECASE)


def case_text(question: str, answers: Sequence[str], paths: Sequence[str]) -> str:
    """Write a question with its candidates, numbered from 0."""
    numbered = "\n".join(f"Path {at}. {path}" for at, path in enumerate(paths))
    return f"Paths:\n{numbered}\n\nQuestion:\n{question}\n\nAnswer(s):\n{', '.join(answers)}"


def chosen(reply: str, count: int) -> list[int] | None:
    """Return the numbers that a reply chooses; None where it names no path and not "none"."""
    found: dict[int, None] = {}
    none = False
    for line in _LINE.findall(reply):
        none |= _NONE.match(line) is not None
        at = 0
        while item := _ITEM.match(line, at):
            at = item.end()
            number = item[1]
            if len(number) < 10 and int(number) < count:
                found[int(number)] = None
    return list(found) if found or none else None
