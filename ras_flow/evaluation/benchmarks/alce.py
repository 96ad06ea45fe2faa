"""ASQA (Stelmakh et al., 2022) and ELI5 (Fan et al., 2019): long answers, in the form of ALCE.

ALCE gives a JSON list whose rows have ``docs``, the best first, of which five are used. ASQA's own
file is read too: one object, questions by id under "train", "dev" or "test" (``split``), without
documents. Gold answers of ASQA are the annotators' passages; the groups of short answers are those
of its readings. ELI5's claims are not read: they are sentences, and whether an answer says them
takes a model to judge.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ras_flow.datasets.asqa import read_asqa_file
from ras_flow.datasets.reading import Row, is_one_object, read_rows
from ras_flow.evaluation.benchmarks.form import Form, given_documents, optional_text, some_texts
from ras_flow.evaluation.question import Question


def asqa_rows(path: Path) -> Iterator[Row]:
    """Yield the questions of either form."""
    yield from read_asqa_file(path) if is_one_object(path) else read_rows(path)


def read_asqa(row: Row) -> Question:
    """Read a question that can be understood in several ways."""
    notes = row.rows("annotations") if row.has("annotations") else []
    long = [note.text("long_answer") for note in notes] or [row.text("answer")]
    readings = row.rows("qa_pairs")
    if not readings:
        row.fail("qa_pairs", "expected at least one reading")
    return Question(
        id=optional_text(row, "sample_id", "id"),
        question=row.first_text("question", "ambiguous_question"),
        answers=tuple(dict.fromkeys(long)),
        answer_sets=tuple(some_texts(pair, "short_answers") for pair in readings),
        documents=given_documents(row, "docs"),
    )


def read_eli5(row: Row) -> Question:
    """Read a question that asks for an explanation."""
    return Question(
        id=optional_text(row, "id", "q_id"),
        question=row.text("question"),
        answers=(row.text("answer"),),
        documents=given_documents(row, "docs"),
    )


FORMS = {
    "asqa": Form(
        task="ambiguous_qa",
        metrics=("rouge_lsum", "str_em"),
        read=read_asqa,
        retrieval="given",
        rows=asqa_rows,
        corpus_metrics=("mauve",),
    ),
    "eli5": Form(
        task="explain",
        metrics=("rouge_lsum",),
        read=read_eli5,
        retrieval="given",
        corpus_metrics=("mauve",),
    ),
}
