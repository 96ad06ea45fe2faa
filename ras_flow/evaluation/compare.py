"""Which questions flipped between two evaluations or two systems, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ras_flow.evaluation.outcome import SearchedHop
from ras_flow.evaluation.report.summary import difference, paired
from ras_flow.evaluation.rows import Row
from ras_flow.evaluation.statistics import Difference
from ras_flow.formats.normalize import normalize_question


@dataclass(frozen=True)
class Flip:
    """A question that only one of two has right, and where their runs parted."""

    first: Row
    second: Row
    parted: str

    @property
    def wrong(self) -> Row:
        """The row of the one that has it wrong; its error class says why."""
        return self.second if self.first.right else self.first


@dataclass(frozen=True)
class Comparison:
    """Two systems on a benchmark: only the first has ``lost`` right, only the second ``gained``."""

    benchmark: str
    first: str
    second: str
    questions: int
    difference: Difference | None
    lost: Sequence[Flip]
    gained: Sequence[Flip]


def compare(first: Sequence[Row], second: Sequence[Row]) -> list[Comparison]:
    """Compare systems of the same name on each benchmark; or the two, where each side has one."""
    ours = list(dict.fromkeys(row.system for row in first))
    theirs = list(dict.fromkeys(row.system for row in second))
    pairs = [(name, name) for name in ours if name in theirs]
    if len(ours) == len(theirs) == 1:
        pairs = [(ours[0], theirs[0])]
    found = []
    for benchmark in dict.fromkeys(row.benchmark for row in first):
        for one, other in pairs:
            rows = paired(_of(first, benchmark, one), _of(second, benchmark, other))
            if rows:
                flips = [Flip(a, b, parted(a, b)) for a, b in rows if a.right != b.right]
                found.append(
                    Comparison(
                        benchmark=benchmark,
                        first=one,
                        second=other,
                        questions=len(rows),
                        difference=difference(rows, seed=0),
                        lost=[flip for flip in flips if flip.first.right],
                        gained=[flip for flip in flips if flip.second.right],
                    )
                )
    return found


def parted(first: Row, second: Row) -> str:
    """Say where two runs of a question went different ways."""
    for row in (first, second):
        if row.outcome.error:
            return f"one failed: {row.outcome.error}"
    ours, theirs = first.outcome.hops, second.outcome.hops
    for number, (one, other) in enumerate(zip(ours, theirs, strict=False)):
        if normalize_question(one.subquery) != normalize_question(other.subquery):
            return f"hop {number + 1} searches {one.subquery!r}, or {other.subquery!r}"
        if set(one.passages) != set(other.passages):
            return f"hop {number + 1} finds {_only(one, other)}, or {_only(other, one)}"
    if len(ours) != len(theirs):
        return (
            f"ends after hop {len(ours)} ({first.outcome.stop_reason}), or after {len(theirs)} "
            f"({second.outcome.stop_reason})"
        )
    structured = all("extractor" in row.outcome.usage for row in (first, second))
    if structured and first.outcome.triples != second.outcome.triples:
        return f"{first.outcome.triples} triples, or {second.outcome.triples}"
    return "the same searches and passages, another answer"


def _of(rows: Sequence[Row], benchmark: str, system: str) -> list[Row]:
    return [row for row in rows if (row.benchmark, row.system) == (benchmark, system)]


def _only(hop: SearchedHop, other: SearchedHop) -> str:
    """Name the passages that only the first hop found; by their ids where titles tell no more."""
    titles = [title for title in hop.titles if title not in other.titles]
    if set(hop.titles) == set(other.titles):
        titles = [
            f"{title} ({id})"
            for id, title in zip(hop.passages, hop.titles, strict=False)
            if id not in other.passages
        ]
    return ", ".join(map(repr, titles)) if titles else "nothing else"
