"""Splits by question or title: known before anything is drawn or made.

A split follows from what it is named by, in the form in which two spellings are one, and from the
seed. So it is the same in every source, and does not change when data is added. (Splits by sample
let two hops of one question fall on both sides.)
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Literal, Self, get_args

from pydantic import model_validator

from ras_flow.formats.normalize import normalize_question
from ras_flow.support.validation import Settings, Share, checked, load_toml

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)


class Splitter(Settings):
    """Sends questions into splits: a share for development, one for testing, the rest for training.

    Another seed is another split.
    """

    seed: int = 13
    dev: Share[float] = 0.05
    test: Share[float] = 0.05

    @model_validator(mode="after")
    def _leaves_some(self) -> Self:
        if self.dev + self.test >= 1:
            raise ValueError("The shares `dev` and `test` must leave some for training.")
        return self

    def __call__(self, question: str) -> Split:
        """Return the split of a question, the same for all its spellings."""
        return self.of(normalize_question(question))

    def of(self, key: str) -> Split:
        """Return the split of what is called so."""
        place = fraction(self.seed, "split", key)
        if place < self.test:
            return "test"
        return "dev" if place < self.test + self.dev else "train"


def read_splitter(path: Path) -> Splitter:
    """Read ``seed``, ``dev`` and ``test`` of a TOML file that describes training data."""
    named = load_toml(path)
    given = {name: named[name] for name in Splitter.model_fields if name in named}
    splitter: Splitter = checked(Splitter, given, str(path))
    return splitter


def fraction(seed: int, *names: str) -> float:
    """Return a number in [0, 1) that names and seed alone decide, the same on every machine."""
    digest = sha256("\0".join((str(seed), *names)).encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
