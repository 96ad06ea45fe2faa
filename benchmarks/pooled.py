"""Systems against one of them, over the questions of several evaluations together.

    python benchmarks/pooled.py SYSTEM RUN [RUN ...] [--seed 0] [--together 2wiki,hotpotqa,musique]

A report (`ras-flow eval`) has the same figures of one evaluation. Of each system the first row has
the main metric by benchmark, that of the benchmarks ``--together``, that of all, and tokens a
question; the second how far it is ahead of SYSTEM on the same questions, with 95% intervals.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ras_flow.evaluation.report.summary import difference, paired
from ras_flow.evaluation.rows import Row, open_rows
from ras_flow.evaluation.statistics import Difference


def main(system: str, runs: Sequence[Path], seed: int, together: Sequence[str]) -> None:
    """Print the table."""
    rows: list[Row] = []
    for run in runs:
        with open_rows(run) as kept:
            rows += kept.all()
    benchmarks = list(dict.fromkeys(row.benchmark for row in rows))
    groups = {name: (name,) for name in benchmarks}
    groups |= {"together": tuple(together), "all": tuple(benchmarks)}
    ours = [row for row in rows if row.system == system]
    counts = {
        name: len([row for row in ours if row.benchmark in of]) for name, of in groups.items()
    }
    print(f"| | {' | '.join(f'{name}, {count}' for name, count in counts.items())} | tokens |")
    print(f"| --- |{' ---: |' * (len(groups) + 1)}")
    for name in dict.fromkeys([system, *(row.system for row in rows)]):
        theirs = [row for row in rows if row.system == name]
        pairs = paired(theirs, ours)
        if not pairs:
            continue
        parts = [[pair for pair in pairs if pair[0].benchmark in of] for of in groups.values()]
        scores = [_percent([row.score for row, _ in part]) for part in parts]
        tokens = sum(row.outcome.tokens for row, _ in pairs) / len(pairs)
        print(f"| {name} | {' | '.join(scores)} | {tokens:,.0f} |")
        if name != system:
            print(f"| | {' | '.join(_told(difference(part, seed)) for part in parts)} | |")


def _percent(scores: Sequence[float]) -> str:
    return f"{100 * sum(scores) / len(scores):.1f}" if scores else ""


def _told(gap: Difference | None) -> str:
    if gap is None:
        return ""
    ahead, low, high = (f"{100 * value:+.1f}" for value in (gap.mean, gap.low, gap.high))
    return f"{ahead} ({low} to {high}; p {gap.p:.3f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("system")
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--together", default="2wiki,hotpotqa,musique")
    given = parser.parse_args()
    main(given.system, given.runs, given.seed, given.together.split(","))
