"""How certain a score is, and whether two systems differ: scipy's bootstrap and permutation test.

Scores belong to single questions, and systems are compared on the same ones. Results depend on the
seed, not on the order of the questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ras_flow.support.extras import require

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Scores = Sequence[float] | NDArray[np.float64]

SAMPLES = 10_000
"""Resamples; where no more permutations exist than this, all are tried and p is exact."""

_FEWEST = 2_000
_DRAWN = 20_000_000
"""Numbers that resamples of many questions may take, as long as :data:`_FEWEST` are made."""

_AT_ONCE = 2**22
"""Numbers drawn at a time, so that memory does not grow with the benchmark."""


@dataclass(frozen=True)
class Interval:
    """A mean with its 95 % confidence interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Difference(Interval):
    """Mean of the first system minus that of the second, with a two-sided p-value."""

    p: float


def bootstrap(values: Scores, *, seed: int = 0) -> Interval:
    """Return the mean of scores with its percentile interval."""
    scores = np.sort(np.asarray(values, dtype=np.float64))
    mean = float(scores.mean())
    if scores[0] == scores[-1]:
        return Interval(mean, mean, mean)
    found = require("scipy.stats", extra="eval").bootstrap(
        (scores,),
        np.mean,
        method="percentile",
        **_drawn(scores.size, seed),
    )
    low, high = found.confidence_interval
    return Interval(mean, float(low), float(high))


def compare_paired(first: Scores, second: Scores, *, seed: int = 0) -> Difference:
    """Compare two systems by question: bootstrap of the gaps, and their permutation test."""
    # Rounded, so that equal gaps are equal: 0.8 - 0.7 and 0.2 - 0.1 differ in their last digits.
    gaps = np.round(np.asarray(first, dtype=np.float64) - np.asarray(second), 9)
    gap = bootstrap(gaps, seed=seed)
    gaps = np.sort(gaps[gaps != 0])
    p = 1.0
    if gaps.size > 1:
        test = require("scipy.stats", extra="eval").permutation_test(
            (gaps,),
            lambda x, axis: np.round(np.mean(x, axis=axis), 9),
            permutation_type="samples",
            vectorized=True,
            **_drawn(gaps.size, seed),
        )
        p = float(test.pvalue)
    return Difference(gap.mean, gap.low, gap.high, p)


def _drawn(size: int, seed: int) -> dict[str, int]:
    enough = min(SAMPLES, max(_FEWEST, _DRAWN // size))
    return {"n_resamples": enough, "batch": max(1, _AT_ONCE // size), "rng": seed}
