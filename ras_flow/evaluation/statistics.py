"""How sure a score is, and whether two systems differ: bootstrap and permutation, seeded.

Scores are those of single questions. Systems are compared on the same questions, pair by pair.
What comes out depends on the seed, and not on the order of the questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ras_flow.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLES = 10_000
"""Resamples that are drawn."""

EXACT = 13
"""Pairs that differ, up to which all their 2^n permutations are tried instead of a sample."""

_REPEATED = 30
"""Scores for each value among them, from which on it is faster to draw how often each value comes.

The resamples are distributed alike, and then take no longer for more scores.
"""

_CHUNK = 2**20
"""Numbers that are drawn at a time, so that memory does not grow with the benchmark."""


@dataclass(frozen=True)
class Interval:
    """A mean and where it probably lies.

    Attributes:
        mean: The mean.
        low: Lower end of the interval.
        high: Upper end of the interval.
    """

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Difference(Interval):
    """By how much one system is ahead of another.

    Attributes:
        mean: Mean of the first less mean of the second.
        low: Lower end of the interval.
        high: Upper end of the interval.
        p: Two-sided p-value of there being no difference.
    """

    p: float


def bootstrap(
    values: Sequence[float] | NDArray[np.float64], *, samples: int = SAMPLES, seed: int = 0
) -> Interval:
    """Return the mean of scores with its 95 % bootstrap percentile interval."""
    scores = np.sort(_scores(values))
    low, high = np.percentile(_means(scores, samples, seed), [2.5, 97.5])
    return Interval(float(scores.mean()), float(low), float(high))


def paired_bootstrap(
    first: Sequence[float], second: Sequence[float], *, samples: int = SAMPLES, seed: int = 0
) -> Interval:
    """Compare two systems by resampling the questions."""
    return bootstrap(_gaps(first, second), samples=samples, seed=seed)


def paired_permutation(
    first: Sequence[float], second: Sequence[float], *, samples: int = SAMPLES, seed: int = 0
) -> float:
    """Return the two-sided p-value of a paired permutation test of the mean.

    If the systems do not differ, each pair of scores might as well be the other way round. Where at
    most :data:`EXACT` pairs differ, all ways are tried, so that p is exact.
    """
    gaps = _gaps(first, second)
    gaps = np.sort(gaps[gaps != 0])
    # Sums of the same numbers in another order differ in their last digits.
    reached = abs(gaps.sum()) - 1e-9 * np.abs(gaps).sum()
    if gaps.size <= EXACT:
        flips = (np.arange(2**gaps.size)[:, None] >> np.arange(gaps.size)) & 1
        return float((np.abs((1 - 2 * flips) @ gaps) >= reached).mean())
    random = np.random.default_rng(seed)
    far, counts = np.unique(np.abs(gaps), return_counts=True)
    repeated = far.size * _REPEATED < gaps.size
    as_far = 0
    for size in _chunks(samples, far.size if repeated else gaps.size):
        if repeated:
            sums = (2 * random.binomial(counts, 0.5, (size, far.size)) - counts) @ far
        else:
            sums = (1 - 2 * random.integers(0, 2, (size, gaps.size), dtype=np.int8)) @ gaps
        as_far += int((np.abs(sums) >= reached).sum())
    return (as_far + 1) / (samples + 1)


def _scores(values: Sequence[float] | NDArray[np.float64]) -> NDArray[np.float64]:
    scores = np.asarray(values, dtype=np.float64)
    if not scores.size:
        raise InputError("There are no scores to take the mean of.")
    return scores


def _gaps(first: Sequence[float], second: Sequence[float]) -> NDArray[np.float64]:
    if len(first) != len(second):
        raise InputError(
            f"Systems are compared on the same questions; there are {len(first)} scores of one and "
            f"{len(second)} of the other."
        )
    return _scores(first) - _scores(second)


def _means(values: NDArray[np.float64], samples: int, seed: int) -> NDArray[np.float64]:
    """Return the means of resamples of the values, shape (samples,)."""
    random = np.random.default_rng(seed)
    found, counts = np.unique(values, return_counts=True)
    if found.size * _REPEATED < values.size:
        shares = counts / values.size
        means = [
            random.multinomial(values.size, shares, size) @ found / values.size
            for size in _chunks(samples, found.size)
        ]
    else:
        means = [
            values[random.integers(0, values.size, (size, values.size))].mean(axis=1)
            for size in _chunks(samples, values.size)
        ]
    return np.concatenate(means)


def _chunks(samples: int, width: int) -> Iterator[int]:
    rows = max(1, _CHUNK // width)
    for start in range(0, samples, rows):
        yield min(rows, samples - start)
