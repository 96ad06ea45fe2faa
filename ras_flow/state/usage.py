"""What node steps cost: counted as they run, and added up."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from time import perf_counter
from typing import Protocol

from ras_flow.state.schema import Spent, Usage


class Counted(Protocol):
    """Anything that knows the tokens it took."""

    @property
    def input_tokens(self) -> int:
        """Prompt tokens."""

    @property
    def output_tokens(self) -> int:
        """Generated tokens."""


class Cost:
    """The calls, tokens and working seconds of one node step.

    ``step`` is the node's name, with ``:NUMBER`` where it may be repeated within a run.
    """

    def __init__(self, role: str, step: str) -> None:
        self._step = step
        self._began = perf_counter()
        self._usage = Usage(role=role, calls=0, input_tokens=0, output_tokens=0, seconds=0.0)

    def add(self, counted: Counted, calls: int = 1) -> None:
        """Count model calls and their tokens."""
        self._usage["calls"] += calls
        self._usage["input_tokens"] += counted.input_tokens
        self._usage["output_tokens"] += counted.output_tokens
        if cached := getattr(counted, "cached_tokens", 0):
            self._usage["cached_tokens"] = self._usage.get("cached_tokens", 0) + cached

    def usage(self) -> dict[str, Usage]:
        """Return the cost so far, keyed as the state keeps it."""
        seconds = round(perf_counter() - self._began, 3)
        return {self._step: {**self._usage, "seconds": seconds}}


def add_up(uses: Iterable[Usage]) -> Spent:
    """Add up costs."""
    total = Spent(calls=0, input_tokens=0, output_tokens=0, seconds=0.0)
    for use in uses:
        for name in ("calls", "input_tokens", "output_tokens", "seconds"):
            total[name] += use[name]
        if cached := use.get("cached_tokens"):
            total["cached_tokens"] = total.get("cached_tokens", 0) + cached
    return {**total, "seconds": round(total["seconds"], 3)}


def usage_by_role(uses: Collection[Usage]) -> dict[str, Usage]:
    """Add up costs by role."""
    roles = dict.fromkeys(use["role"] for use in uses)
    return {
        role: Usage(role=role, **add_up(use for use in uses if use["role"] == role))
        for role in roles
    }
