"""BREAK (QDMR): human decompositions without answers or facts.

They teach one thing: what to ask when the question itself has found nothing to the point. The
first plan is [SUBQ] Q; after a failed hop comes the first step that names no earlier result, and
after that the next such step. None is ever found, so [SUFFICIENT] does not occur.

Used are the high-level decompositions of HotpotQA and ComplexWebQuestions. Low-level ones cut
below what is worth a search ("justin bieber"); DROP's ask about a passage that is not there ("the
last of the field goals in the game").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ras_flow.datasets.reading import Row
from ras_flow.datasets.wording import references
from recipes.graph_llm.case import Case, Page, Step
from recipes.graph_llm.sources.texts import Texts
from recipes.graph_llm.wording import as_question

OPEN_DOMAIN = ("HOTPOT", "CWQ")


def read(rows: Iterable[Row], texts: Texts) -> Iterator[Case]:
    """Yield a case for each question with a step that can be asked for by itself."""
    del texts
    for row in rows:
        id = row.first_text("id", "question_id")
        low = row.has("kind") and row.text("kind") != "high"
        if low or not id.startswith(OPEN_DOMAIN):
            continue
        steps = [
            Step((as_question(step),), (), Page("", ()), missing=True)
            for step in _steps(row)
            if not references(step) and len(step.split()) > 2 and not step.startswith("if ")
        ]
        if steps:
            question = row.first_text("question", "question_text")
            yield Case("break", id, question, "", tuple(steps))


def _steps(row: Row) -> list[str]:
    """Return the steps, as a list or as BREAK writes them ("return a ;return b of #1")."""
    if row.has("steps"):
        return row.texts("steps")
    pieces = row.text("decomposition").split(";")
    return [piece.strip().removeprefix("return ").strip() for piece in pieces if piece.strip()]
