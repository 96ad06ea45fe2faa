"""Benchmarks: published files as questions, with all that is needed to ask and to judge them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from hashlib import sha256
from itertools import chain, count
from pathlib import Path

from ras_flow.datasets.contexts import gold_titles
from ras_flow.datasets.reading import Row
from ras_flow.errors import ConfigurationError, InputError
from ras_flow.evaluation.benchmarks import closed, jsonl, knowledge_graphs, multi_hop, open_ended
from ras_flow.evaluation.benchmarks.form import Form
from ras_flow.evaluation.question import Benchmark, Question, pooled_documents
from ras_flow.state.schema import Document

FORMS: dict[str, Form] = {
    **open_ended.FORMS,
    **closed.FORMS,
    **multi_hop.FORMS,
    **knowledge_graphs.FORMS,
    **jsonl.FORMS,
}
"""Benchmarks by name."""

Questions = tuple[Question, ...]
Pool = tuple[Document, ...]

_PART_FIELDS = ("split", "set", "kb", "graph", "src")


def load_benchmark(
    name: str,
    path: Path,
    *,
    limit: int | None = None,
    seed: int = 0,
    split: str | None = None,
    only: Callable[[Question], bool] | None = None,
    unanswerable: int = 0,
    given: bool = False,
    pooled: bool = False,
) -> Benchmark:
    """Read the questions of a benchmark.

    Rows whose label the task cannot express are left out. Of the others, those that ``only``
    allows are asked, at most ``limit``, and beside them ``unanswerable`` questions that what is
    searched does not answer. ``given``: each is asked of its own documents alone. ``pooled``: the
    graphs of all questions are searched together.
    """
    form = FORMS.get(name)
    if form is None:
        raise ConfigurationError(f"Unknown benchmark {name!r}. Choose one of: {', '.join(FORMS)}.")
    rows = form.rows(path) if split is None else _part(form.rows(path), split, path)
    questions = _identified((row, form.read(row)) for row in rows)
    pool = pooled_documents(questions)
    facts = dict.fromkeys(fact for one in questions if pooled for fact in one.graph)
    if only is not None:
        questions = tuple(one for one in questions if only(one))
    questions, unknown, pool = _set_apart(questions, pool, unanswerable, seed, given=given)
    if not questions:
        raise InputError(f"{path} has no question that can be asked and judged.")
    asked = {one.id for one in _in_order_by_chance(questions, seed)[:limit]}
    return Benchmark(
        name=name,
        questions=tuple(one for one in questions if one.id in asked),
        unanswerable=unknown,
        task=form.task,
        retrieval=form.retrieval if pool else "corpus",
        metrics=form.metrics,
        corpus_metrics=form.corpus_metrics,
        pool=pool,
        facts=tuple(facts),
    )


def _part(rows: Iterator[Row], split: str, path: Path) -> list[Row]:
    """Return the rows of a part of a file."""
    kept: list[Row] = []
    known: dict[str, None] = {}
    for row in rows:
        values = [row.value.get(field) for field in _PART_FIELDS]
        flags = [field for field, value in row.value.items() if value is True]
        if split in values or split in flags:
            kept.append(row)
        known |= dict.fromkeys([value for value in values if isinstance(value, str)] + flags)
    if not kept:
        there = f"It has {', '.join(known)}." if known else "Its rows name no parts."
        raise ConfigurationError(f"{path} has no part that is called {split!r}. {there}")
    return kept


def _identified(read: Iterable[tuple[Row, Question | None]]) -> tuple[Question, ...]:
    """Give each question without an id one that follows from its text; check the others."""
    found: dict[str, Question] = {}
    for row, question in read:
        if question is None:
            continue
        id = question.id
        if not id:
            digest = sha256(question.question.encode()).hexdigest()[:12]
            names = chain([digest], (f"{digest}-{number}" for number in count(2)))
            id = next(name for name in names if name not in found)
        elif id in found:
            raise InputError(f"{row.where}: the id {id!r} comes twice; give each its own.")
        found[id] = replace(question, id=id, pages=gold_titles(row))
    return tuple(found.values())


def _set_apart(
    questions: Questions, pool: Pool, count: int, seed: int, *, given: bool
) -> tuple[Questions, Questions, Pool]:
    """Return answerable questions, ``count`` unanswerable ones, and the pool to search.

    The file's own unanswerable questions are taken if there are enough. Those with documents
    (MuSiQue) count only where they are asked of these alone: a pool would hold the documents of
    their answerable twins. Else questions are drawn by chance, their gold documents are taken out
    of the pool, and no other question is asked that rests on one of these.
    """
    known = tuple(one for one in questions if one.answerable)
    if not count:
        return known, (), pool
    own = [one for one in questions if not one.answerable and (given or not one.documents)]
    if given or not pool or len(own) >= count:
        if len(own) < count:
            raise ConfigurationError(
                f"unanswerable = {count}, but the file has {len(own)} questions without an answer: "
                'ask for fewer, or have them made with index = "pool".'
            )
        return known, _in_order_by_chance(own, seed)[:count], pool
    sound = [one for one in known if one.support and all(each.title for each in one.support)]
    chosen = _in_order_by_chance(sound, seed)[::-1][:count]
    if len(chosen) < count:
        raise ConfigurationError(
            f"unanswerable = {count}, but the file names the gold documents of {len(sound)} "
            "questions: ask for fewer, or for the file's own with retrieval = 'given'."
        )
    out = _titles(chosen)
    return (
        tuple(one for one in known if not out.intersection(_titles([one]))),
        tuple(replace(one, answerable=False, support=()) for one in chosen),
        tuple(document for document in pool if document.get("title", "") not in out),
    )


def _in_order_by_chance(questions: Iterable[Question], seed: int) -> Questions:
    """Order questions by chance: the same for a seed, whatever other questions there are."""

    def place(question: Question) -> tuple[str, str]:
        return sha256(f"{seed}\0{question.question}".encode()).hexdigest(), question.id

    return tuple(sorted(questions, key=place))


def _titles(questions: Iterable[Question]) -> set[str]:
    return {each.title for one in questions for each in one.support}
