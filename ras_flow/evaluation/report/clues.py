"""How far T²RAG's clues came, and what answers of resolved and unresolved runs are worth."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from ras_flow.evaluation.report.summary import Summary
from ras_flow.evaluation.report.tables import Table, percent


def clue_table(summaries: Sequence[Summary]) -> Table | None:
    """Resolved and unresolved runs, and clues against gold facts; None where no run has clues."""
    rows = []
    for one in summaries:
        resolved = one.measure("resolved")
        if resolved is None:
            continue
        scores = [
            [row.score for row in one.rows if row.measures.get("resolved") == state]
            for state in (1.0, 0.0)
        ]
        shares = [one.measure(name) for name in ("clues_right", "slots_right")]
        rows.append(
            [
                one.system,
                percent(resolved),
                *(percent(fmean(some)) if some else "" for some in scores),
                *("" if share is None else percent(share) for share in shares),
                f"{one.measure('passages'):.1f}",
            ]
        )
    header = ["system", "resolved", "resolved right", "others right", "clues right", "slots right"]
    note = (
        "In per cent. Resolved: runs whose clues were all resolved; right: the main score of these "
        "and of the others. Clues right: resolved clues that a gold fact states; slots right: "
        "values that one names. Passages: different ones that a run found (the effective top k)."
    )
    return Table("Clues", [*header, "passages"], rows, note) if rows else None
