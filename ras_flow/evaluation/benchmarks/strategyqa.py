"""StrategyQA (Geva et al., 2021): yes or no, where the question does not say what to look up.

Two forms: the authors' JSON list, whose ``evidence`` names paragraphs for each step, by annotator
(the first with a list for every step is taken), and the shared one with ``evidence_titles``, which
are of the whole question. A step that names an earlier result does not count as a subquery, since
the results of steps are not given. The statements that an annotator reasoned from are the
question's documents: those of all questions together are a corpus of single sentences. Where that
is searched, the statements are what a question rests on, and where another corpus is, the pages
are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ras_flow.datasets.reading import Row
from ras_flow.datasets.wording import references
from ras_flow.evaluation.benchmarks.form import Form
from ras_flow.evaluation.question import Question, Support

_NO_PAGE = ("operation", "no_evidence")


def read(row: Row) -> Question:
    """Read a question."""
    return Question(
        id=row.first_text("qid", "id"),
        question=row.text("question"),
        answers=("yes" if row.flag("answer") else "no",),
        documents=tuple({"title": "", "text": fact} for fact in _facts(row)),
        support=tuple(_support(row)),
    )


def _facts(row: Row) -> list[str]:
    return [fact for fact in row.texts("facts") if fact.strip()] if row.has("facts") else []


def _support(row: Row) -> Iterator[Support]:
    yield from (Support("", fact) for fact in _facts(row))
    steps = row.texts("decomposition") if row.has("decomposition") else []
    subqueries = ["" if references(step) else step for step in steps]
    if row.has("evidence_titles"):
        yield from (Support(title) for title in row.texts("evidence_titles"))
        yield from (Support("", subquery=subquery) for subquery in subqueries if subquery)
        return
    notes = row.items("evidence") if row.has("evidence") else []
    whole = (note for note in notes if isinstance(note, list) and len(note) == len(steps))
    for subquery, pages in zip(subqueries, next(whole, ()), strict=False):
        for title in dict.fromkeys(_titles(pages)):
            yield Support(title, subquery=subquery)


def _titles(pages: Any) -> Iterator[str]:
    """Yield the titles in paragraph ids ("Genghis Khan-12"), however deep they are in lists."""
    if isinstance(pages, str) and pages not in _NO_PAGE:
        yield pages.rpartition("-")[0] or pages
    elif isinstance(pages, list):
        for page in pages:
            yield from _titles(page)


FORMS = {"strategyqa": Form("yes_no", ("verdict_accuracy",), read)}
