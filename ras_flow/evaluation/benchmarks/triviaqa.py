"""TriviaQA (Joshi et al., 2017): trivia, with web pages found for each question.

Two forms: the authors' JSON for ``unfiltered`` and ``rc`` (one object, questions under ``Data``),
of whose search results title and snippet are used, since the pages are in files of their own; and
the JSON lines of Self-RAG with ``question``, ``answers`` and ``ctxs``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ras_flow.datasets.reading import Row, is_one_object, read_json, read_rows
from ras_flow.evaluation.benchmarks.form import (
    GIVEN,
    Form,
    given_documents,
    optional_text,
    some_texts,
)
from ras_flow.evaluation.question import Question
from ras_flow.state.schema import Document


def rows(path: Path) -> Iterator[Row]:
    """Yield the questions of either form."""
    if is_one_object(path):
        yield from Row(read_json(path), str(path)).rows("Data")
    else:
        yield from read_rows(path)


def read(row: Row) -> Question:
    """Read a question."""
    if row.has("question"):
        return Question(
            id=optional_text(row, "id", "q_id"),
            question=row.text("question"),
            answers=some_texts(row, "answers"),
            documents=given_documents(row, "ctxs"),
        )
    answer = Row(row.value.get("Answer"), f"{row.where}:Answer")
    aliases = answer.texts("Aliases") if answer.has("Aliases") else []
    return Question(
        id=row.text("QuestionId"),
        question=row.text("Question"),
        answers=tuple(dict.fromkeys([answer.text("Value"), *filter(None, aliases)])),
        documents=_results(row),
    )


def _results(row: Row) -> tuple[Document, ...]:
    results = row.rows("SearchResults") if row.has("SearchResults") else []
    found: list[Document] = [
        {"title": optional_text(result, "Title"), "text": result.text("Description")}
        for result in results
        if optional_text(result, "Description")
    ]
    return tuple(found[:GIVEN])


FORMS = {
    "triviaqa": Form(
        task="short_qa",
        metrics=("match", "exact_match", "f1"),
        read=read,
        retrieval="given_first",
        rows=rows,
    )
}
