"""Which records an epoch shows, and in which order.

Both follow from seed and epoch alone. A group that is sampled down shows its next records in the
next epoch, so that all are seen in time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from ras_flow.errors import ConfigurationError
from ras_flow.training.data.records import Record
from ras_flow.training.graph_llm.config import MixSettings
from ras_flow.training.order import LengthGrouped


def kind_of(record: Record) -> str:
    """Return which setting of the mix counts for a record."""
    if record["task"] == "answer":
        return "answer"
    first = not record["chain"] and record["target"].get("label") == "SUBQ"
    return "first_subq" if first else "plan"


class Mixed:
    """Positions of records, anew for each epoch, those of similar length together."""

    def __init__(
        self,
        records: Sequence[Record],
        lengths: Sequence[int],
        settings: MixSettings,
        *,
        step: int,
        seed: int,
    ) -> None:
        self._lengths, self._step, self._seed, self._epoch = lengths, step, seed, 0
        groups: dict[tuple[str, str], list[int]] = {}
        for position, record in enumerate(records):
            groups.setdefault((record["source"], kind_of(record)), []).append(position)
        rates = {key: float(getattr(settings, key[1])) for key in groups}
        wanted = {
            key: rates[key] * len(rows) ** (1 / settings.temperature)
            for key, rows in groups.items()
        }
        plain = sum(rates[key] * len(rows) for key, rows in groups.items())
        scale = plain / (sum(wanted.values()) or 1)
        self._groups = {key: groups[key] for key in sorted(groups)}
        for key, rows in self._groups.items():
            random.Random(f"{seed}/{key}").shuffle(rows)
        self.counts = {key: round(wanted[key] * scale) for key in self._groups}
        if not len(self):
            raise ConfigurationError(
                "The mix leaves no record to train on. Raise `mix`, or add data."
            )

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch; the trainer calls this."""
        self._epoch = epoch

    def __len__(self) -> int:
        return sum(self.counts.values())

    def __iter__(self) -> Iterator[int]:
        drawn: list[int] = []
        for key, rows in self._groups.items():
            count = self.counts[key]
            start = self._epoch * count
            drawn += [rows[(start + i) % len(rows)] for i in range(count)]
        order = LengthGrouped([self._lengths[row] for row in drawn], self._step, self._seed)
        order.set_epoch(self._epoch)
        return (drawn[at] for at in order)
