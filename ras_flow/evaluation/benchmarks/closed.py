"""Questions with a closed set of answers: ARC, OpenBookQA, PubHealth, FEVER."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from string import ascii_uppercase

from ras_flow.datasets.choices import read_choices, write_choices
from ras_flow.datasets.reading import Row
from ras_flow.datasets.wording import untokenize
from ras_flow.evaluation.benchmarks.form import Form, optional_text, some_texts
from ras_flow.evaluation.question import Question, Support

_FEVER = {"SUPPORTS": "true", "REFUTES": "false", "NOT ENOUGH INFO": ""}
_PUBHEALTH = {
    "true": "true",
    "supports": "true",
    "false": "false",
    "refutes": "false",
    "mixture": "",
    "unproven": "",
}


def choices(own: str) -> Callable[[Row], Question | None]:
    """Make the reader of a benchmark with options, which takes its own rows of a shared file."""

    def read(row: Row) -> Question | None:
        if row.has("set") and row.text("set") != own:
            return None
        stem, texts, right = read_choices(row)
        return Question(
            id=optional_text(row, "id"),
            question=write_choices(stem, texts),
            answers=(ascii_uppercase[right], texts[right]),
            options=dict(zip(ascii_uppercase, texts, strict=False)),
        )

    return read


def read_pubhealth(row: Row) -> Question | None:
    """Read a claim about health, in the form of Self-RAG or the authors' (Kotonya and Toni, 2020).

    Of the latter, "mixture" and "unproven" claims are left out: the task knows no such answer. So
    are its few rows that are cut short or have something else in the label's place.
    """
    field = "answers" if row.has("answers") else "label"
    published = field == "label" and row.has("claim_id")
    label = optional_text(row, field) if field == "label" else some_texts(row, field)[0]
    if label.lower() not in _PUBHEALTH and not published:
        row.fail(field, f"expected one of {', '.join(_PUBHEALTH)}, this is {label!r}")
    verdict = _PUBHEALTH.get(label.lower(), "")
    if not verdict:
        return None
    return Question(
        id=optional_text(row, "id", "claim_id"),
        question=row.first_text("question", "claim"),
        answers=(verdict,),
    )


def read_fever(row: Row) -> Question | None:
    """Read a claim of FEVER (Thorne et al., 2018); without enough info it is left out, as in KILT.

    The authors' evidence is sets of [.., .., page, sentence number], any one of which is enough
    (the first is taken); the shared form has the sentences themselves.
    """
    label = row.text("label")
    if label not in _FEVER:
        row.fail("label", f"expected one of {', '.join(_FEVER)}, this is {label!r}")
    if not _FEVER[label]:
        return None
    return Question(
        id=row.text("id"),
        question=row.text("claim"),
        answers=(_FEVER[label],),
        support=tuple(dict.fromkeys(_evidence(row))),
    )


def _evidence(row: Row) -> Iterator[Support]:
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


FORMS = {
    "pubhealth": Form("fact_check", ("verdict_accuracy",), read_pubhealth),
    "arc_challenge": Form("multiple_choice", ("option_accuracy",), choices("arc_hard")),
    "arc_easy": Form("multiple_choice", ("option_accuracy",), choices("arc_easy")),
    "openbookqa": Form("multiple_choice", ("option_accuracy",), choices("obqa")),
    "fever": Form("fact_check", ("verdict_accuracy",), read_fever),
}
