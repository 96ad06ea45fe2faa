"""PubHealth: claims about health, true or false.

Two forms: the JSON lines of Self-RAG (``question`` or ``claim``, with ``answers`` or a ``label``
of SUPPORTS or REFUTES), and the authors' TSV (Kotonya and Toni, 2020), of which the claims that
are "mixture" or "unproven" are left out: the task knows no such answer. So are its few rows
that are cut short or have something else in the label's place, such as "nan" or "snopes".
"""

from __future__ import annotations

from ras_flow.datasets.reading import Row
from ras_flow.evaluation.benchmarks.form import Form, optional_text, some_texts
from ras_flow.evaluation.question import Question

_VERDICTS = {
    "true": "true",
    "supports": "true",
    "false": "false",
    "refutes": "false",
    "mixture": "",
    "unproven": "",
}


def read(row: Row) -> Question | None:
    """Read a claim."""
    field = "answers" if row.has("answers") else "label"
    published = field == "label" and row.has("claim_id")
    label = optional_text(row, field) if field == "label" else some_texts(row, field)[0]
    if label.lower() not in _VERDICTS and not published:
        row.fail(field, f"expected one of {', '.join(_VERDICTS)}, this is {label!r}")
    verdict = _VERDICTS.get(label.lower(), "")
    if not verdict:
        return None
    return Question(
        id=optional_text(row, "id", "claim_id"),
        question=row.first_text("question", "claim"),
        answers=(verdict,),
    )


FORMS = {"pubhealth": Form("fact_check", ("verdict_accuracy",), read)}
