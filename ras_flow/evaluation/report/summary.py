"""What the rows of an evaluation come to, by benchmark and system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median

from ras_flow.evaluation.config import EvalConfig, SystemConfig
from ras_flow.evaluation.costs import money
from ras_flow.evaluation.rows import Row
from ras_flow.evaluation.statistics import Difference, Interval, bootstrap, compare_paired


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A system on a benchmark.

    Scores are by metric, the main one first; ``ahead`` is the distance from the reference in the
    main metric, on the questions that both have. ``together`` are scores of all answers together.
    The config is None for a system that the settings no longer name.
    """

    system: str
    config: SystemConfig | None
    rows: Sequence[Row]
    scores: Mapping[str, Interval]
    reference: bool = False
    ahead: Difference | None = None
    together: Mapping[str, float] = field(default_factory=dict)

    @property
    def main(self) -> Interval:
        """Score of the main metric."""
        return next(iter(self.scores.values()))

    @property
    def failed(self) -> int:
        """Runs that failed."""
        return sum(bool(row.outcome.error) for row in self.rows)

    @property
    def tokens(self) -> float:
        """Tokens a question."""
        return fmean(row.outcome.tokens for row in self.rows)

    def weighted(self, output_weight: float) -> float:
        """Return the tokens a question, those that were written by their weight."""
        uses = [use for row in self.rows for use in row.outcome.usage.values()]
        total = sum(use["input_tokens"] + output_weight * use["output_tokens"] for use in uses)
        return total / len(self.rows)

    @property
    def calls(self) -> float:
        """Model calls a question."""
        return fmean(row.outcome.calls for row in self.rows)

    @property
    def rounds(self) -> float:
        """Steps of a question that wait for a model, one after the other."""
        return fmean(row.outcome.rounds for row in self.rows)

    @property
    def seconds(self) -> float:
        """Working seconds of the middle question."""
        return median(row.outcome.seconds for row in self.rows)

    @property
    def hops(self) -> float:
        """Searches a question."""
        return fmean(len(row.outcome.hops) for row in self.rows)

    @property
    def triples(self) -> float:
        """Triples in the graph at the end."""
        return fmean(row.outcome.triples for row in self.rows)

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that read or wrote tokens."""
        uses = (use for row in self.rows for use in row.outcome.usage.values())
        spent = (use["role"] for use in uses if use["input_tokens"] + use["output_tokens"])
        return tuple(dict.fromkeys(spent))

    def tokens_by(self, role: str) -> float:
        """Return the tokens a question of a role."""
        uses = [row.outcome.usage.get(role) for row in self.rows]
        return fmean(use["input_tokens"] + use["output_tokens"] if use else 0 for use in uses)

    def money(self, config: EvalConfig) -> float:
        """Return what its questions cost, each as if asked alone."""
        models = self.config.models if self.config else {}
        return sum(money(row.outcome, models, config.prices) for row in self.rows)

    def measure(self, name: str) -> float | None:
        """Return the mean of a measure of the steps; None where no row has it."""
        found = [row.measures[name] for row in self.rows if name in row.measures]
        return fmean(found) if found else None

    @property
    def errors(self) -> Counter[str]:
        """Wrong answers by error class."""
        return Counter(row.error_class for row in self.rows if row.error_class)

    @property
    def stop_reasons(self) -> Counter[str]:
        """Runs by stop reason; those that failed have none."""
        reasons = (row.outcome.stop_reason for row in self.rows)
        return Counter(reason for reason in reasons if reason)


def judged_alike(config: EvalConfig, rows: Sequence[Row]) -> tuple[list[Row], list[str]]:
    """Leave out rows that were judged otherwise than those of the systems that are asked today.

    Rows of systems that the settings no longer name are not judged again, where gold was corrected
    or another version judges otherwise: beside the others they would say what is not so.
    """
    named = {one.name for one in config.systems}
    today = {(row.benchmark, row.id): _judged(row) for row in rows if row.system in named}
    left = {
        id(row): row.system
        for row in rows
        if row.system not in named
        and today.get((row.benchmark, row.id), _judged(row)) != _judged(row)
    }
    return [row for row in rows if id(row) not in left], sorted(set(left.values()))


def summarise(
    config: EvalConfig,
    rows: Iterable[Row],
    together: Mapping[str, Mapping[str, float]] | None = None,
) -> dict[str, list[Summary]]:
    """Sum up an evaluation.

    The reference is the first system of kind ``ras``, else the first system.
    """
    cells: dict[str, dict[str, list[Row]]] = {one.name: {} for one in config.benchmarks}
    for row in rows:
        cells.setdefault(row.benchmark, {}).setdefault(row.system, []).append(row)
    known = {one.name: one for one in config.systems}
    found = {}
    for benchmark, by_system in cells.items():
        order = [name for name in known if name in by_system]
        order += [name for name in by_system if name not in known]
        if not order:
            continue
        ours = (name for name in order if name in known and known[name].system.kind == "ras")
        reference = next(ours, order[0])
        found[benchmark] = [
            Summary(
                system=name,
                config=known.get(name),
                rows=by_system[name],
                scores=_scores(by_system[name], config.seed),
                reference=name == reference,
                ahead=None
                if name == reference
                else difference(paired(by_system[name], by_system[reference]), config.seed),
                together=(together or {}).get(f"{benchmark}/{name}", {}),
            )
            for name in order
        ]
    return found


def paired(first: Iterable[Row], second: Iterable[Row]) -> list[tuple[Row, Row]]:
    """Return the rows of the questions that two systems both have, in the first one's order."""
    others = {(row.benchmark, row.id, row.question): row for row in second}
    both = ((row, others.get((row.benchmark, row.id, row.question))) for row in first)
    return [(row, other) for row, other in both if other is not None]


def difference(pairs: Sequence[tuple[Row, Row]], seed: int) -> Difference | None:
    """Return by how much the first of each pair is ahead, by the main metric."""
    if not pairs:
        return None
    ours, theirs = ([row.score for row in side] for side in zip(*pairs, strict=True))
    return compare_paired(ours, theirs, seed=seed)


def _judged(row: Row) -> tuple[str, int]:
    return row.gold, row.judging


def _scores(rows: Sequence[Row], seed: int) -> dict[str, Interval]:
    return {
        metric: bootstrap([row.scores.get(metric, 0.0) for row in rows], seed=seed)
        for metric in rows[0].scores
    }
