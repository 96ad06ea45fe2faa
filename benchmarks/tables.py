"""A cell of a Markdown table: a mean, and its difference to another one."""

from __future__ import annotations

from collections.abc import Sequence

from ras_flow.evaluation.statistics import compare_paired


def beside(values: Sequence[float], reference: Sequence[float] | None, digits: int) -> str:
    """Return a mean and its difference to a reference on the same records, with its 95% interval.

    Args:
        values: A number a record.
        reference: What they are compared with, in the same order; None for nothing.
        digits: Decimal places.

    Returns:
        ``"0.71"``, or ``"0.71 (+0.02: -0.01 to +0.05)"``.
    """
    mean = f"{sum(values) / len(values):.{digits}f}"
    if reference is None:
        return mean
    gap = compare_paired(values, reference)
    low, high = (f"{end:+.{digits}f}" for end in (gap.low, gap.high))
    return f"{mean} ({gap.mean:+.{digits}f}: {low} to {high})"
