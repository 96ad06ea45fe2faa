"""How well a system knows what it knows: support against being right, error against coverage."""

from __future__ import annotations

from collections.abc import Sequence

from ras_flow.support.extras import require


def auroc(support: Sequence[float], right: Sequence[bool]) -> float | None:
    """Return the chance that a right answer has more support than a wrong one, if both exist."""
    ours = [score for score, good in zip(support, right, strict=True) if good]
    theirs = [score for score, good in zip(support, right, strict=True) if not good]
    if not ours or not theirs:
        return None
    test = require("scipy.stats", extra="eval").mannwhitneyu(ours, theirs)
    return float(test.statistic) / (len(ours) * len(theirs))


def risk_at(support: Sequence[float], right: Sequence[bool], coverage: float) -> float:
    """Return the share of wrong answers among those with the most support; ties count in part."""
    wanted = coverage * len(support)
    given = wrong = 0.0
    for score in sorted(set(support), reverse=True):
        tied = [not good for other, good in zip(support, right, strict=True) if other == score]
        taken = min(1.0, (wanted - given) / len(tied))
        wrong += taken * sum(tied)
        given += taken * len(tied)
        if given >= wanted:
            break
    return wrong / wanted
