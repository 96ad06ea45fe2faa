"""What the rows of an evaluation come to, by benchmark and system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from ras_flow.evaluation.config import EvalConfig, SystemConfig
from ras_flow.evaluation.rows import Row
from ras_flow.evaluation.statistics import Difference, Interval, bootstrap, compare_paired


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A system on a benchmark.

    Scores are by metric, the main one first; ``ahead`` is the distance from the reference in the
    main metric, on the questions that both have. ``together`` are scores of all answers together.
    """

    config: SystemConfig
    rows: Sequence[Row]
    scores: Mapping[str, Interval]
    reference: bool = False
    ahead: Difference | None = None
    together: Mapping[str, float] = field(default_factory=dict)

    @property
    def system(self) -> str:
        """The system's name."""
        return self.config.name

    @property
    def main(self) -> Interval:
        """Score of the main metric."""
        return next(iter(self.scores.values()))

    @property
    def errors(self) -> Counter[str]:
        """Wrong answers by error class."""
        return Counter(row.error_class for row in self.rows if row.error_class)

    def measure(self, name: str) -> float | None:
        """Return the mean of a measure of the steps; None where no row has it."""
        found = [row.measures[name] for row in self.rows if name in row.measures]
        return fmean(found) if found else None


def summarise(
    config: EvalConfig, rows: Iterable[Row], together: Mapping[str, Mapping[str, float]]
) -> dict[str, list[Summary]]:
    """Sum up rows by benchmark; the reference is the first of kind ``ras``, else the first."""
    cells: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        cells.setdefault((row.benchmark, row.system), []).append(row)
    order = [one.name for one in config.benchmarks] + [name for name, _ in cells]
    found = {}
    for benchmark in dict.fromkeys(order):
        asked = [one for one in config.systems if (benchmark, one.name) in cells]
        if not asked:
            continue
        reference = next((one for one in asked if one.system.kind == "ras"), asked[0])
        theirs = cells[benchmark, reference.name]
        found[benchmark] = [
            Summary(
                config=one,
                rows=(own := cells[benchmark, one.name]),
                scores={
                    metric: bootstrap(
                        [row.scores.get(metric, 0.0) for row in own], seed=config.seed
                    )
                    for metric in own[0].scores
                },
                reference=one is reference,
                ahead=None if one is reference else difference(paired(own, theirs), config.seed),
                together=together.get(f"{benchmark}/{one.name}", {}),
            )
            for one in asked
        ]
    return found


def paired(first: Iterable[Row], second: Iterable[Row]) -> list[tuple[Row, Row]]:
    """Return the rows of the questions that two systems both have, in the first one's order."""
    # Exported rows leave out the question; its gold is kept as a checksum.
    others = {(row.benchmark, row.id, row.gold): row for row in second}
    both = ((row, others.get((row.benchmark, row.id, row.gold))) for row in first)
    return [(row, other) for row, other in both if other is not None]


def difference(pairs: Sequence[tuple[Row, Row]], seed: int) -> Difference | None:
    """Return by how much the first of each pair is ahead, by the main metric."""
    if not pairs:
        return None
    ours, theirs = ([row.score for row in side] for side in zip(*pairs, strict=True))
    return compare_paired(ours, theirs, seed=seed)
