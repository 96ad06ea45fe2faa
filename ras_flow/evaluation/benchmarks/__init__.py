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
from ras_flow.evaluation.benchmarks.unanswerable import in_order_by_chance, set_apart
from ras_flow.evaluation.question import Benchmark, Question, pooled_documents

FORMS: dict[str, Form] = {
    **open_ended.FORMS,
    **closed.FORMS,
    **multi_hop.FORMS,
    **knowledge_graphs.FORMS,
    **jsonl.FORMS,
}
"""Benchmarks by name."""

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

    Rows whose label the task cannot express are left out. ``unanswerable`` is the number of
    questions to ask beside the others that what is searched does not answer; ``given`` says that
    each question is asked of its own documents alone, ``pooled`` that the graphs of all questions
    are searched together.
    """
    form = FORMS.get(name)
    if form is None:
        raise ConfigurationError(f"Unknown benchmark {name!r}. Choose one of: {', '.join(FORMS)}.")
    if limit is not None and limit < 1:
        raise ConfigurationError(f"The limit of {name} is {limit}: ask at least 1 question.")
    rows = form.rows(path) if split is None else _part(form.rows(path), split, path)
    questions = _identified((row, form.read(row)) for row in rows)
    pool = pooled_documents(questions)
    facts = dict.fromkeys(fact for one in questions if pooled for fact in one.graph)
    if only is not None:
        questions = tuple(one for one in questions if only(one))
    questions, unknown, pool = set_apart(questions, pool, unanswerable, seed, given=given)
    if not questions:
        raise InputError(f"{path} has no question that can be asked and judged.")
    asked = {one.id for one in in_order_by_chance(questions, seed)[:limit]}
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
