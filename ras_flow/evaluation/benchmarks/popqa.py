"""PopQA (Mallen et al., 2022): questions about entities, many of which few people look up.

Two forms: the authors' TSV, where ``possible_answers`` is a JSON list, and the JSON lines of
Self-RAG, which add retrieved passages (``ctxs``). ``popqa_longtail`` takes the questions about
subjects with fewer than 100 page views a month, 1,399 of the whole set (appendix E.1).
"""

from __future__ import annotations

import json

from ras_flow.datasets.reading import Row
from ras_flow.evaluation.benchmarks.form import Form, given_documents, optional_text, some_texts
from ras_flow.evaluation.question import Question

LONG_TAIL = 100
"""Monthly page views from which on a subject counts as known."""


def read(row: Row) -> Question:
    """Read a question."""
    return Question(
        id=optional_text(row, "id"),
        question=row.text("question"),
        answers=some_texts(row, "answers") if row.has("answers") else _possible(row),
        documents=given_documents(row, "ctxs"),
        kind=optional_text(row, "prop"),
    )


def read_long_tail(row: Row) -> Question | None:
    """Read a question about a subject that few people look up."""
    views = row.text("s_pop")
    if not views.isdecimal():
        row.fail("s_pop", f"expected a number of page views, this is {views!r}")
    return read(row) if int(views) < LONG_TAIL else None


def _possible(row: Row) -> tuple[str, ...]:
    """Read the list that is written as a text."""
    field = "possible_answers"
    try:
        answers = json.loads(row.text(field))
    except (ValueError, RecursionError):
        row.fail(field, "expected a JSON list of texts")
    return some_texts(Row({field: answers}, row.where), field)


_METRICS = ("match", "exact_match", "f1")
FORMS = {
    "popqa": Form("short_qa", _METRICS, read, "given_first"),
    "popqa_longtail": Form("short_qa", _METRICS, read_long_tail, "given_first"),
}
