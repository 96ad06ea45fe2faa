"""Questions that are answered in words: TriviaQA, PopQA, QED, ASQA, ELI5.

TriviaQA and PopQA are read as their authors give them and as Self-RAG does, which adds retrieved
passages (``ctxs``); ASQA and ELI5 in the form of ALCE, whose rows have ``docs``, the best first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from ras_flow.datasets.reading import Row, is_one_object, read_json, read_rows
from ras_flow.datasets.wording import untokenize
from ras_flow.evaluation.benchmarks.form import (
    SHORT_ANSWER,
    Form,
    distinct,
    given_documents,
    optional_text,
    some_texts,
)
from ras_flow.evaluation.question import Question, Support

SPLITS = ("train", "dev", "test")

LONG_TAIL = 100
"""Monthly page views from which on a subject of PopQA counts as known."""


def triviaqa_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of either form: the authors' is one object, with questions under ``Data``."""
    if is_one_object(path):
        yield from Row(read_json(path), str(path)).rows("Data")
    else:
        yield from read_rows(path)


def read_triviaqa(row: Row) -> Question:
    """Read TriviaQA (Joshi et al., 2017); of search results, title and snippet are used."""
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
        answers=distinct([answer.text("Value"), *aliases]),
        documents=given_documents(row, "SearchResults", title="Title", text="Description"),
    )


def read_popqa(row: Row) -> Question:
    """Read a question of PopQA (Mallen et al., 2022); the authors write its answers as a text."""
    return Question(
        id=optional_text(row, "id"),
        question=row.text("question"),
        answers=some_texts(row, "answers") if row.has("answers") else _possible(row),
        documents=given_documents(row, "ctxs"),
        kind=optional_text(row, "prop"),
    )


def read_long_tail(row: Row) -> Question | None:
    """Read a question about a subject that few people look up: 1,399 of PopQA (appendix E.1)."""
    views = row.text("s_pop")
    if not views.isdecimal():
        row.fail("s_pop", f"expected a number of page views, this is {views!r}")
    return read_popqa(row) if int(views) < LONG_TAIL else None


def _possible(row: Row) -> tuple[str, ...]:
    field = "possible_answers"
    try:
        answers = json.loads(row.text(field))
    except (ValueError, RecursionError):
        row.fail(field, "expected a JSON list of texts")
    return some_texts(Row({field: answers}, row.where), field)


def read_qed(row: Row) -> Question | None:
    """Read a question of QED (Lamm et al., 2021): one paragraph of Natural Questions, one hop.

    Those whose answer is a list are left out, since each part alone would pass for right.
    """
    answers = distinct(row.texts("answers"))
    if len(answers) != 1:
        return None
    title, text = row.text("title"), untokenize(row.text("paragraph"))
    return Question(
        id=row.text("id"),
        question=row.text("question"),
        answers=(untokenize(answers[0]),),
        documents=({"title": title, "text": text},),
        support=(Support(title, text),),
    )


def asqa_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of either form; the authors' is one object by split, without documents."""
    if not is_one_object(path):
        yield from read_rows(path)
        return
    whole = Row(read_json(path), str(path))
    parts = [part for part in SPLITS if whole.has(part)]
    if not parts:
        whole.fail("dev", f"expected an object with one of {', '.join(SPLITS)}, or a list of rows")
    for part in parts:
        for id, value in Row(whole.value[part], f"{path}:{part}").value.items():
            row = Row(value, f"{path}:{part}:{id}")
            row.value |= {"split": part, "sample_id": id}
            yield row


def read_asqa(row: Row) -> Question:
    """Read a question of ASQA (Stelmakh et al., 2022), which can be understood in several ways."""
    notes = row.rows("annotations") if row.has("annotations") else []
    long = [note.text("long_answer") for note in notes] or [row.text("answer")]
    readings = row.rows("qa_pairs")
    if not readings:
        row.fail("qa_pairs", "expected at least one reading")
    return Question(
        id=optional_text(row, "sample_id", "id"),
        question=row.first_text("question", "ambiguous_question"),
        answers=distinct(long),
        answer_sets=tuple(some_texts(pair, "short_answers") for pair in readings),
        documents=given_documents(row, "docs"),
    )


def read_eli5(row: Row) -> Question:
    """Read a question of ELI5 (Fan et al., 2019); whether claims are met takes a model."""
    return Question(
        id=optional_text(row, "id", "q_id"),
        question=row.text("question"),
        answers=(row.text("answer"),),
        documents=given_documents(row, "docs"),
    )


_MATCH = ("match", "exact_match", "f1")

FORMS = {
    "triviaqa": Form("short_qa", _MATCH, read_triviaqa, "given_first", triviaqa_rows),
    "popqa": Form("short_qa", _MATCH, read_popqa, "given_first"),
    "popqa_longtail": Form("short_qa", _MATCH, read_long_tail, "given_first"),
    "asqa": Form(
        "ambiguous_qa", ("rouge_lsum", "str_em"), read_asqa, "given", asqa_rows, ("mauve",)
    ),
    "eli5": Form("explain", ("rouge_lsum",), read_eli5, "given", corpus_metrics=("mauve",)),
    "qed": Form("short_qa", SHORT_ANSWER, read_qed),
}
