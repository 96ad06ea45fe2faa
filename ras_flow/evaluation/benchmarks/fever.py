"""FEVER (Thorne et al., 2018): claims about Wikipedia, true or false.

Two forms: the authors' JSON lines, whose evidence is sets of [.., .., page, sentence number], any
one of which is enough (the first is taken); and the shared one with the sentences themselves.
Claims with NOT ENOUGH INFO are left out, as in KILT: the task knows no such answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from ras_flow.datasets.reading import Row
from ras_flow.datasets.wording import untokenize
from ras_flow.evaluation.benchmarks.form import Form
from ras_flow.evaluation.question import Question, Support

_VERDICTS = {"SUPPORTS": "true", "REFUTES": "false", "NOT ENOUGH INFO": ""}


def read(row: Row) -> Question | None:
    """Read a claim."""
    label = row.text("label")
    if label not in _VERDICTS:
        row.fail("label", f"expected one of {', '.join(_VERDICTS)}, this is {label!r}")
    if not _VERDICTS[label]:
        return None
    return Question(
        id=row.text("id"),
        question=row.text("claim"),
        answers=(_VERDICTS[label],),
        support=tuple(dict.fromkeys(_support(row))),
    )


def _support(row: Row) -> Iterator[Support]:
    evidence = row.items("evidence")
    if all(isinstance(item, str) for item in evidence):
        yield from (Support("", untokenize(sentence)) for sentence in row.texts("evidence"))
        return
    for at, item in enumerate(evidence[0] if isinstance(evidence[0], list) else [None]):
        match item:
            case [_, _, str(page), int()]:
                yield Support(untokenize(page.replace("_", " ").replace("-COLON-", ":")))
            case _:
                row.fail(f"evidence[0][{at}]", "expected [.., .., page, sentence number]")


FORMS = {"fever": Form("fact_check", ("verdict_accuracy",), read)}
