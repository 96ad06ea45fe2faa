"""MuSiQue (Trivedi et al., 2022): two to four hops with a human decomposition.

Two forms: the authors' JSON lines (``paragraphs``, ``question_decomposition``) and the shared one
(``docs``, ``decomp``). Subqueries have the answers of earlier steps filled in. A question that its
documents do not answer (``answerable`` false) has its answerable twin's id.
"""

from __future__ import annotations

from ras_flow.datasets.contexts import paragraph_of_step, paragraphs, title_of_step
from ras_flow.datasets.reading import Row
from ras_flow.datasets.wording import fill
from ras_flow.evaluation.benchmarks.form import SHORT_ANSWER, Form
from ras_flow.evaluation.question import Question, Support


def read(row: Row) -> Question:
    """Read a question."""
    answerable = not row.has("answerable") or row.flag("answerable")
    id = row.text("id")
    field = "aliases" if row.has("aliases") else "answer_aliases"
    aliases = row.texts(field) if row.has(field) else []
    given = paragraphs(row)
    return Question(
        id=id if answerable else f"{id}-unanswerable",
        question=row.text("question"),
        answers=tuple(dict.fromkeys([row.text("answer"), *filter(None, aliases)])),
        documents=tuple({"title": title, "text": text} for title, text in given),
        support=_support(row, given) if answerable else (),
        answerable=answerable,
        kind=id[:4] if "__" in id else "",  # "3hop1__…" and "3hop2__…" are of three hops
    )


def _support(row: Row, given: list[tuple[str, str]]) -> tuple[Support, ...]:
    steps = row.rows("decomp" if row.has("decomp") else "question_decomposition")
    results = {at: step.first_text("a", "answer") for at, step in enumerate(steps)}
    found = []
    for step in steps:
        place = paragraph_of_step(step)
        own = given[place] if place is not None and 0 <= place < len(given) else None
        found.append(
            Support(
                title=own[0] if own else title_of_step(step),
                text=own[1] if own else "",
                subquery=fill(step.first_text("q", "question"), results),
            )
        )
    return tuple(found)


FORMS = {"musique": Form("short_qa", SHORT_ANSWER, read)}
