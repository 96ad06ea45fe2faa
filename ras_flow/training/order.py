"""The order of the examples in each epoch: mixed, yet similar lengths together.

The order depends on seed and epoch only. (transformers' own one depends on the global random state
as well, so a resumed run would see its examples in another order.)
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

POOL = 50
"""Batches that are drawn together and sorted by length; more means less padding, less mixing."""


class LengthGrouped:
    """A sampler for transformers' Trainer; ``batch_size`` counts the examples of a step."""

    def __init__(self, lengths: Sequence[int], batch_size: int, seed: int) -> None:
        self._lengths, self._size, self._seed, self._epoch = lengths, batch_size, seed, 0

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch; the trainer calls this."""
        self._epoch = epoch

    def __len__(self) -> int:
        return len(self._lengths)

    def __iter__(self) -> Iterator[int]:
        drawn, size = random.Random(f"{self._seed}/{self._epoch}"), self._size
        order = list(range(len(self._lengths)))
        drawn.shuffle(order)
        batches: list[list[int]] = []
        for start in range(0, len(order), POOL * size):
            near = sorted(order[start : start + POOL * size], key=lambda at: -self._lengths[at])
            batches += [near[i : i + size] for i in range(0, len(near), size)]
        # Trainer cuts batches off in order, so a short one must come last.
        last = batches.pop() if batches and len(batches[-1]) < size else []
        drawn.shuffle(batches)
        yield from (at for batch in [*batches, last] for at in batch)
