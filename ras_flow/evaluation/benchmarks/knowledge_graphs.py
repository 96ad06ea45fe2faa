"""Questions on knowledge graphs: PathQuestion, WebQSP, RoG, SubgraphRAG, GrailQA, ExplaGraphs.

A file of one's own names entities and all answers, and may say which facts they rest on::

    {"id": "1", "question": "Which elements did Marie Curie discover?", "entities": ["Marie Curie"],
     "answers": ["polonium", "radium"], "gold": [["polonium", "discovered by", "Marie Curie"], …]}

RoG's rows (Luo et al., 2024) hold a subgraph of WebQSP or CWQ each; SubgraphRAG's file of scored
triples (Li et al., 2025) holds what its retriever found of it; GrailQA (Gu et al., 2021) is asked
of Freebase. Systems that search no graph are asked these like any other question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from pickle import UnpicklingError

from ras_flow.datasets.choices import write_choices
from ras_flow.datasets.reading import Row, read_rows
from ras_flow.errors import InputError
from ras_flow.evaluation.benchmarks.form import Form, distinct, optional_text, some_texts
from ras_flow.evaluation.question import Question, Support
from ras_flow.support.extras import require

SETS = ("set_f1", "strict_f1", "hit", "hit_at_1")
"""Metrics of sets of answers, one question at a time."""

_STANCES = {"support": "It supports it.", "counter": "It counters it."}


def read_own(row: Row) -> Question:
    """Read a question of one's own; without answers it asks what the graph does not say."""
    answers = distinct(row.texts("answers"))
    gold = row.triples("gold") if row.has("gold") else []
    return Question(
        id=optional_text(row, "id"),
        question=row.text("question"),
        answers=answers,
        answer_sets=_each(answers),
        support=tuple(Support(fact[0], facts=(fact,)) for fact in gold),
        kind=optional_text(row, "type", "kind"),
        entities=distinct(row.texts("entities")) if row.has("entities") else (),
        graph=tuple(row.triples("triples")) if row.has("triples") else (),
        answerable=bool(answers),
    )


def read_pathquestion(row: Row) -> Question:
    """Read a question about a chain of relations; underscores in its names become spaces."""
    path = [_spaced(stage) for stage in row.texts("path")]
    if len(path) < 3 or len(path) % 2 == 0:
        row.fail("path", "expected entities with relations between them")
    answers = distinct(map(_spaced, some_texts(row, "answers")))
    return Question(
        id=row.text("id"),
        question=_spaced(row.text("question")),
        answers=answers,
        answer_sets=_each(answers),
        support=tuple(
            Support(path[at], facts=((path[at], path[at + 1], path[at + 2]),))
            for at in range(0, len(path) - 2, 2)
        ),
        kind=f"{len(path) // 2}hop",
        entities=(path[0],),
    )


def read_subgraph(row: Row) -> Question | None:
    """Read a question of WebQSP or RoG's sets and its subgraph; none without an answer."""
    answers = distinct(row.texts("answers" if row.has("answers") else "answer"))
    if not answers:
        return None
    field = "triples" if row.has("triples") else "graph"
    return Question(
        id=row.text("id"),
        question=row.text("question"),
        answers=answers,
        answer_sets=_each(answers),
        entities=distinct(row.texts("q_entity")) if row.has("q_entity") else (),
        graph=tuple(row.triples(field)) if row.has(field) else (),
    )


def scored_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of SubgraphRAG's scored triples: its ``.pth`` file, or JSON lines with ids."""
    if path.suffix != ".pth":
        yield from read_rows(path)
        return
    torch = require("torch", extra="local")
    try:
        rows = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, EOFError, RuntimeError, ValueError, UnpicklingError) as error:
        raise InputError(f"{path} cannot be read as scored triples ({error}).") from error
    if not isinstance(rows, dict):
        raise InputError(f"{path} holds no questions by id, but a {type(rows).__name__}.")
    for id, value in rows.items():
        yield Row({"id": str(id), **value} if isinstance(value, dict) else value, f"{path}:{id}")


def read_scored(row: Row) -> Question | None:
    """Read what SubgraphRAG's retriever found for a question."""
    triples = []
    for at, found in enumerate(row.items("scored_triples")):
        if not isinstance(found, Sequence) or len(found) < 3:
            row.fail(f"scored_triples[{at}]", "expected [head, relation, tail, score]")
        triples.append([*found[:3]])
    value = {**row.value, "answers": row.texts("a_entity"), "triples": triples}
    return read_subgraph(Row(value, row.where))


def read_grailqa(row: Row) -> Question | None:
    """Read a question of GrailQA, on ids of Freebase; one without answers is left out."""
    answers = distinct(
        optional_text(one, "entity_name") or one.text("answer_argument")
        for one in (row.rows("answer") if row.has("answer") else [])
    )
    if not answers:
        return None
    query = Row(row.value.get("graph_query"), f"{row.where}:graph_query")
    return Question(
        id=row.text("qid"),
        question=row.text("question"),
        answers=answers,
        answer_sets=_each(answers),
        kind=optional_text(row, "level"),
        entities=tuple(
            node.text("id")
            for node in query.rows("nodes")
            if node.text("node_type") == "entity" and not node.value.get("question_node")
        ),
    )


def read_explagraphs(row: Row) -> Question:
    """Read a pair of arguments: does the second support the first?"""
    label = row.text("label")
    if label not in _STANCES:
        row.fail("label", f"expected one of {', '.join(_STANCES)}, this is {label!r}")
    stem = (
        f"Argument 1: {row.text('arg1')}\nArgument 2: {row.text('arg2')}\n"
        "Does argument 2 support argument 1 or counter it?"
    )
    texts = list(_STANCES.values())
    return Question(
        id=row.text("id"),
        question=write_choices(stem, texts),
        answers=("AB"[texts.index(_STANCES[label])], _STANCES[label]),
        options=dict(zip("AB", texts, strict=True)),
        support=(Support("", facts=tuple(row.triples("triples"))),),
    )


def _spaced(name: str) -> str:
    return " ".join(name.replace("_", " ").split())


def _each(answers: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Return a set of answers that have one name each."""
    return tuple((answer,) for answer in answers)


def _form(read: Callable[[Row], Question | None]) -> Form:
    return Form("short_qa", SETS, read, corpus_metrics=("micro_f1",))


FORMS = {
    "pathquestion": _form(read_pathquestion),
    "webqsp": _form(read_subgraph),
    "rog": _form(read_subgraph),
    "subgraphrag": replace(_form(read_scored), rows=scored_rows),
    "grailqa": _form(read_grailqa),
    "kg": _form(read_own),
    "explagraphs": Form("multiple_choice", ("option_accuracy",), read_explagraphs),
}
