"""Systems by benchmarks, each beside one of them on the same questions: the table to publish."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from ras_flow.errors import InputError
from ras_flow.evaluation.question import UNANSWERABLE
from ras_flow.evaluation.report.summary import difference, paired
from ras_flow.evaluation.report.tables import Table, mean_percent, p_value
from ras_flow.evaluation.rows import Row
from ras_flow.evaluation.statistics import Difference


def overview_table(rows: Sequence[Row], reference: str, seed: int) -> Table:
    """Return two lines a system: its scores, and how far they are ahead of the reference's."""
    rows = [row for row in rows if not row.benchmark.endswith(UNANSWERABLE)]
    ours = [row for row in rows if row.system == reference]
    if not ours:
        known = ", ".join(dict.fromkeys(row.system for row in rows))
        raise InputError(
            f"No answers of {reference!r} to compare with. There are those of {known}."
        )
    metrics = {row.benchmark: next(iter(row.scores), "") for row in ours}
    by_words = [name for name, metric in metrics.items() if metric.endswith("f1")]
    groups = {name: [name] for name in metrics}
    if 1 < len(by_words) < len(metrics):
        groups[" + ".join(by_words)] = by_words
    if len(metrics) > 1:
        groups["all"] = list(metrics)
    counts = {name: sum(row.benchmark in group for row in ours) for name, group in groups.items()}
    lines: list[list[str]] = []
    for system in dict.fromkeys([reference, *(row.system for row in rows)]):
        pairs = paired([row for row in rows if row.system == system], ours)
        if not pairs:
            continue
        parts = [[pair for pair in pairs if pair[0].benchmark in of] for of in groups.values()]
        scores = [mean_percent([row.score for row, _ in part]) for part in parts]
        found = [
            mean_percent([row.measures["recall"] for row, _ in part if "recall" in row.measures])
            for part in parts[: len(metrics)]
        ]
        tokens = fmean(row.outcome.tokens for row, _ in pairs)
        gold = " / ".join(one or "-" for one in found) if any(found) else ""
        lines.append([system, str(len(pairs)), *scores, f"{tokens:,.0f}", gold])
        if system != reference:
            lines.append(["", "", *(_ahead(difference(part, seed)) for part in parts), "", ""])
    note = (
        f"In per cent: {', '.join(f'{metric} on {name}' for name, metric in metrics.items())}. "
        f"Below it the distance from {reference} on the questions that both have, its 95% "
        f"bootstrap interval, and the p of a paired permutation test (seed {seed}). Tokens of a "
        "question; gold documents found, by benchmark."
    )
    heads = [f"{name}, {count}" for name, count in counts.items()]
    return Table(
        "All benchmarks", ["system", "questions", *heads, "tokens", "gold found"], lines, note
    )


def _ahead(gap: Difference | None) -> str:
    if gap is None:
        return ""
    ahead, low, high = (f"{100 * value:+.1f}" for value in (gap.mean, gap.low, gap.high))
    return f"{ahead} ({low} to {high}; p {p_value(gap.p)})"
