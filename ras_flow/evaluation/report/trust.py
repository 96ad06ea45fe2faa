"""Whether an unsupported answer looks like one: the table of abstention."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from ras_flow.evaluation.metrics.abstention import auroc, risk_at
from ras_flow.evaluation.report.summary import Summary
from ras_flow.evaluation.report.tables import Table, percent
from ras_flow.evaluation.rows import Row

COVERAGES = (0.5, 0.8, 1.0)
"""Shares of the questions that are answered, those with the most support first."""


def trust_table(
    answerable: Sequence[Summary], unanswerable: Sequence[Summary] = ()
) -> Table | None:
    """What systems say of answers that the documents do not support; None if none says anything."""
    beside = {one.system: one.rows for one in unanswerable}
    rows = []
    for one in answerable:
        if any(row.outcome.supported is not None for row in one.rows):
            rows.append([one.system, *_cells(one.rows, beside.get(one.system, ()))])
    shares = [f"wrong of the surest {coverage:.0%}" for coverage in COVERAGES]
    header = ["system", "questions", "unanswerable", "told", "right ones lost", "AUROC", *shares]
    note = (
        "In per cent. Told: unanswerable questions to which the run says that it does not know, or "
        "gives an answer and says that nothing supports it. Lost: right answers of which it says "
        "so. AUROC: the chance that a right answer has more support than a wrong one. The surest: "
        "the answers with the most support, to unanswerable questions too, where all are wrong."
    )
    return Table("Trust", header, rows, note) if rows else None


def _cells(answerable: Sequence[Row], unanswerable: Sequence[Row]) -> list[str]:
    right = [row for row in answerable if row.right]
    every = [*answerable, *unanswerable]
    support = [row.measures.get("support", float(not row.outcome.doubted)) for row in every]
    good = [row.right for row in answerable] + [False] * len(unanswerable)
    area = auroc(support, good)
    return [
        str(len(answerable)),
        str(len(unanswerable)),
        percent(fmean(row.outcome.doubted for row in unanswerable)) if unanswerable else "",
        percent(fmean(row.outcome.doubted for row in right)) if right else "",
        "" if area is None else percent(area),
        *(percent(risk_at(support, good, coverage)) for coverage in COVERAGES),
    ]
