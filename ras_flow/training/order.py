"""The order of the examples in each epoch: mixed, yet similar lengths together.

The order follows from seed and epoch alone. (The one of transformers follows from the global
random state too, so a run that was resumed would see its examples in another order.)
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

POOL = 50
"""Batches that are drawn together and sorted by length; more means less padding, less mixing."""


class LengthGrouped:
    """Positions of examples, anew for each epoch."""

    def __init__(self, lengths: Sequence[int], batch_size: int, seed: int) -> None:
        self._lengths = lengths
        self._batch_size = batch_size
        self._seed = seed
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch; the trainer calls this."""
        self._epoch = epoch

    def __len__(self) -> int:
        return len(self._lengths)

    def __iter__(self) -> Iterator[int]:
        drawn = random.Random(f"{self._seed}/{self._epoch}")
        order = list(range(len(self._lengths)))
        drawn.shuffle(order)
        pool = POOL * self._batch_size
        batches: list[list[int]] = []
        for start in range(0, len(order), pool):
            near = sorted(order[start : start + pool], key=lambda at: -self._lengths[at])
            size = self._batch_size
            batches += [near[i : i + size] for i in range(0, len(near), size)]
        # Batches are counted off in order, so a short one must come last.
        last = batches.pop() if batches and len(batches[-1]) < self._batch_size else []
        drawn.shuffle(batches)
        yield from (at for batch in [*batches, last] for at in batch)
