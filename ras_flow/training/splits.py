"""Splits by question or title: known before anything is drawn or made.

A split follows from what it is named by, in the form in which two spellings are one, and from the
seed. So it is the same in every source, and does not change when data is added. (Splits by sample
let two hops of one question fall on both sides.)
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, get_args

from ras_flow.errors import ConfigurationError
from ras_flow.formats.normalize import normalize_question

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)


@dataclass(frozen=True)
class Splitter:
    """Sends questions into splits.

    Attributes:
        seed: Another seed is another split.
        dev: Share of the questions for development, between 0 and 1.
        test: Share of the questions for testing.
    """

    seed: int = 13
    dev: float = 0.05
    test: float = 0.05

    def __post_init__(self) -> None:
        if not (0 <= self.dev and 0 <= self.test and self.dev + self.test < 1):
            raise ConfigurationError(
                f"dev = {self.dev} and test = {self.test} must be shares that leave some for "
                "training."
            )

    def __call__(self, question: str) -> Split:
        """Return the split of a question, the same for all its spellings."""
        return self.of(normalize_question(question))

    def of(self, key: str) -> Split:
        """Return the split of what is called so."""
        place = fraction(self.seed, "split", key)
        if place < self.test:
            return "test"
        return "dev" if place < self.test + self.dev else "train"


def fraction(seed: int, *names: str) -> float:
    """Return a number in [0, 1) that names and seed alone decide, the same on every machine."""
    digest = sha256("\0".join((str(seed), *names)).encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
