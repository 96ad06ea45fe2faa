"""Measures of the steps of a run: plans and subqueries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ras_flow.evaluation.metrics.short_answers import f1
from ras_flow.evaluation.question import Support
from ras_flow.state.schema import PlanLabel
from ras_flow.support.extras import require

_ENDING: dict[PlanLabel | None, PlanLabel] = {"NO_RETRIEVAL": "SUFFICIENT"}
"""After a search [NO_RETRIEVAL] ends it too."""


def label_accuracy(labels: Sequence[PlanLabel | None], all_support: Sequence[bool]) -> float | None:
    """Return the share of a planner's decisions that were right (eq. 2).

    It should stop as soon as all support has been found. What it should decide before the first hop
    is not known: that depends on what the model knows.
    """
    right = [
        _ENDING.get(label, label) == ("SUFFICIENT" if found else "SUBQ")
        for label, found in zip(labels, all_support, strict=False)
    ]
    return sum(right) / len(right) if right else None


def subquery_f1(subqueries: Sequence[str], support: Iterable[Support]) -> float | None:
    """Compare the subqueries of a run with those of the gold decomposition.

    They are paired one to one so that the pairs' token F1 sum up highest; a subquery too many, or
    one that is missing, lowers the result. The order does not count.
    """
    gold = list(dict.fromkeys(part.subquery for part in support if part.subquery))
    if not gold:
        return None
    if not subqueries:
        return 0.0
    assign = require("scipy.optimize", extra="eval").linear_sum_assignment
    alike = [[f1(made, (wanted,)) for wanted in gold] for made in subqueries]
    rows, columns = assign(alike, maximize=True)
    total = sum(alike[row][column] for row, column in zip(rows, columns, strict=True))
    return float(2 * total / (len(subqueries) + len(gold)))
