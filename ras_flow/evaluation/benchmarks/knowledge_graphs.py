"""Questions on knowledge graphs: PathQuestion, WebQSP, ExplaGraphs, in the shared forms.

They are asked as any other question: the graphs that come with them are not handed in. The gold
path of PathQuestion and the gold graph of ExplaGraphs are what a question rests on; WebQSP's
subgraphs hold much beside it.
"""

from __future__ import annotations

from ras_flow.datasets.choices import write_choices
from ras_flow.datasets.reading import Row
from ras_flow.evaluation.benchmarks.form import SHORT_ANSWER, Form, some_texts
from ras_flow.evaluation.question import Question, Support

_STANCES = {"support": "It supports it.", "counter": "It counters it."}


def read_pathquestion(row: Row) -> Question:
    """Read a question about a chain of relations; underscores in its names become spaces."""
    path = [_spaced(stage) for stage in row.texts("path")]
    if len(path) < 3 or len(path) % 2 == 0:
        row.fail("path", "expected entities with relations between them")
    return Question(
        id=row.text("id"),
        question=_spaced(row.text("question")),
        answers=tuple(map(_spaced, some_texts(row, "answers"))),
        support=tuple(
            Support(path[at], facts=((path[at], path[at + 1], path[at + 2]),))
            for at in range(0, len(path) - 2, 2)
        ),
        kind=f"{len(path) // 2}hop",
    )


def read_webqsp(row: Row) -> Question:
    """Read a question to Freebase."""
    return Question(row.text("id"), row.text("question"), some_texts(row, "answers"))


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


FORMS = {
    "pathquestion": Form("short_qa", ("match", *SHORT_ANSWER[:2]), read_pathquestion),
    "webqsp": Form("short_qa", ("match", *SHORT_ANSWER[:2]), read_webqsp),
    "explagraphs": Form("multiple_choice", ("option_accuracy",), read_explagraphs),
}
