"""All benchmarks of an evaluation side by side, and together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from ras_flow.evaluation.question import UNANSWERABLE
from ras_flow.evaluation.report.summary import Summary, difference, paired
from ras_flow.evaluation.report.tables import Table, interval, p_value, percent
from ras_flow.evaluation.rows import Row


def overview_table(found: Mapping[str, Sequence[Summary]], seed: int) -> Table | None:
    """Return each system's main score by benchmark and over all answerable questions."""
    found = {name: one for name, one in found.items() if not name.endswith(UNANSWERABLE)}
    if len(found) < 2:
        return None
    reference = next(one.system for one in next(iter(found.values())) if one.reference)
    rows: dict[str, list[Row]] = {}
    for summaries in found.values():
        for one in summaries:
            rows.setdefault(one.system, []).extend(one.rows)
    table = []
    for system, own in rows.items():
        cells = [
            next((percent(one.main.mean) for one in summaries if one.system == system), "")
            for summaries in found.values()
        ]
        cells += [percent(fmean(row.score for row in own)), str(len(own))]
        ahead = difference(paired(own, rows[reference]), seed) if system != reference else None
        cells += [interval(ahead, signed=True), p_value(ahead.p)] if ahead else ["", ""]
        table.append([system, *cells, f"{fmean(row.outcome.tokens for row in own):.0f}"])
    metrics = (f"{next(iter(summaries[0].scores))} on {name}" for name, summaries in found.items())
    header = ["system", *found, "all", "questions", f"ahead of {reference}", "p", "tokens"]
    note = (
        f"In per cent: {', '.join(metrics)}; all: the mean over all questions of all benchmarks. "
        "The distance is over all questions that both systems have, with its 95 % bootstrap "
        f"interval and the p of a paired permutation test (seed {seed}). Tokens of a question."
    )
    return Table("All benchmarks", header, table, note)
