"""What an evaluation costs: tokens and money, by model."""

from __future__ import annotations

from collections.abc import Mapping

from ras_flow.evaluation.config import Limits, Price
from ras_flow.evaluation.outcome import Outcome
from ras_flow.evaluation.rows import Row

MILLION = 1_000_000


def money(outcome: Outcome, models: Mapping[str, str], prices: Mapping[str, Price]) -> float:
    """Return what a question cost, as if it had been asked alone."""
    return sum(
        _price(models.get(role, ""), use["input_tokens"], use["output_tokens"], prices)
        for role, use in outcome.usage.items()
    )


class Purse:
    """What was really paid so far; a kept call costs nothing."""

    def __init__(self, prices: Mapping[str, Price]) -> None:
        self._prices = prices
        self.tokens = 0
        self.money = 0.0

    def pay(self, row: Row, models: Mapping[str, str], times: int = 1) -> None:
        """Add what a row cost; a negative number of times takes it back."""
        for role, use in row.outcome.usage.items():
            read, written = row.saved_tokens.get(role, (0, 0))
            read, written = use["input_tokens"] - read, use["output_tokens"] - written
            self.tokens += times * (read + written)
            self.money += times * _price(models.get(role, ""), read, written, self._prices)

    def beyond(self, limits: Limits) -> str:
        """Return which ceiling is reached, in a sentence; empty where none is."""
        if limits.tokens is not None and self.tokens >= limits.tokens:
            return (
                f"The ceiling of {limits.tokens} tokens was reached ({self.tokens} were paid for)."
            )
        if limits.money is not None and self.money >= limits.money:
            return f"The ceiling of {limits.money:g} was reached ({self.money:.2f} was paid)."
        return ""


def _price(model: str, read: int, written: int, prices: Mapping[str, Price]) -> float:
    price = prices.get(model)
    return (read * price.input + written * price.output) / MILLION if price else 0.0
