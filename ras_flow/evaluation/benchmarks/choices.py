"""Questions with options: ARC-Challenge (Clark et al., 2018), ARC-Easy, OpenBookQA.

Three forms: AI2's JSON lines, the flat ones of Self-RAG, and those with a list of options and
``set``, of which each benchmark takes its own. Options are lettered from A in all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from string import ascii_uppercase

from ras_flow.datasets.choices import read_choices, write_choices
from ras_flow.datasets.reading import Row
from ras_flow.evaluation.benchmarks.form import Form, optional_text
from ras_flow.evaluation.question import Question


def reader(own: str) -> Callable[[Row], Question | None]:
    """Make the reader of a benchmark."""

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


_METRICS = ("option_accuracy",)
FORMS = {
    "arc_challenge": Form("multiple_choice", _METRICS, reader("arc_hard")),
    "arc_easy": Form("multiple_choice", _METRICS, reader("arc_easy")),
    "openbookqa": Form("multiple_choice", _METRICS, reader("obqa")),
}
