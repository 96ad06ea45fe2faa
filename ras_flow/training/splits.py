"""Splits by question, title and page: known before anything is drawn or made.

A split depends only on the seed and on the normalised name of what is split. So it is the same in
every source, and does not change when data is added. (Splits by sample would let two hops of one
question fall on both sides.) :class:`Apart` leaves out questions until no two splits share a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Self, get_args

from pydantic import model_validator

from ras_flow.datasets.contexts import gold_titles
from ras_flow.datasets.reading import read_rows
from ras_flow.formats.normalize import normalize_name, normalize_question
from ras_flow.support.paths import expanded
from ras_flow.support.validation import Settings, Share, checked, load_toml

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)


class Splitter(Settings):
    """Sends questions into splits: a share for development, one for testing, the rest for training.

    Another seed is another split. With ``dev_from``, the ``test`` of an earlier split, ``test`` can
    grow without the earlier split's ``dev``, on which something was chosen.
    """

    seed: int = 13
    dev: Share[float] = 0.05
    test: Share[float] = 0.05
    dev_from: Share[float] | None = None

    @model_validator(mode="after")
    def _leaves_some(self) -> Self:
        if self.dev + self.test >= 1:
            raise ValueError("The shares `dev` and `test` must leave some for training.")
        if self.dev_from is not None and self.dev_from > self.test:
            raise ValueError(
                "`dev_from` must be at most `test`: an earlier split's, which has grown."
            )
        return self

    def __call__(self, question: str) -> Split:
        """Return the split of a question, the same for all its spellings."""
        return self.of(normalize_question(question))

    def of(self, key: str) -> Split:
        """Return the split of what is called so."""
        place = fraction(self.seed, "split", key)
        start = self.test if self.dev_from is None else self.dev_from
        if start <= place < start + self.dev:
            return "dev"
        return "test" if place < self.test + self.dev else "train"


Asked = tuple[str, frozenset[str]]
"""A question and the normalised titles of the pages that it rests on."""


class Apart:
    """Sends questions into splits, so that no two splits' questions rest on the same page.

    Where questions of different splits share a page, one split keeps it and the questions of the
    others are left out. Among the questions that an evaluation asks (``asked``) testing goes before
    development; they go before all ``others``, among which training goes first.
    """

    def __init__(self, splitter: Splitter, asked: Iterable[Asked], others: Iterable[Asked]) -> None:
        self._splitter = splitter
        self._owners: dict[str, Split] = {}
        orders: tuple[tuple[Split, ...], ...] = (("test", "dev"), ("train", "dev", "test"))
        for order, questions in zip(orders, (asked, others), strict=True):
            placed = [(splitter(question), titles) for question, titles in questions]
            for split in order:
                for own, titles in placed:
                    if own == split and self._free(own, titles):
                        self._owners |= dict.fromkeys(titles, own)

    def __call__(self, question: str, titles: Iterable[str]) -> Split | None:
        """Return the split of a question; None if it is left out."""
        split = self._splitter(question)
        return split if self._free(split, titles) else None

    @property
    def untouched(self) -> set[str]:
        """Titles of the pages that questions for development and testing rest on."""
        return {title for title, split in self._owners.items() if split != "train"}

    def of_page(self, title: str, text: str) -> Split:
        """Return the split of a page: that of the questions that rest on it, if any does."""
        return self._owners.get(normalize_name(title)) or self._splitter(title or text)

    def may_read(self, split: Split, title: str) -> bool:
        """Tell whether no other split's questions rest on a page."""
        return self._free(split, [normalize_name(title)])

    def _free(self, split: Split, titles: Iterable[str]) -> bool:
        return all(self._owners.get(title, split) == split for title in titles)


def read_apart(path: Path) -> Apart:
    """Read a TOML file that describes training data, and the questions of the files it names."""
    named = load_toml(path)
    given = {name: named[name] for name in Splitter.model_fields if name in named}
    splitter: Splitter = checked(Splitter, given, str(path))
    sources: list[dict[str, Any]] = checked(
        list[dict[str, Any]], named.get("source", []), str(path)
    )
    found = []
    for names in (named.get("asked", []), [one.get("file") for one in sources]):
        files: list[str] = checked(list[str], names, str(path))
        found.append(questions_of(path.parent / expanded(name) for name in files))
    return Apart(splitter, *found)


def questions_of(files: Iterable[Path]) -> Iterator[Asked]:
    """Yield the questions whose gold pages are known."""
    for row in (row for file in files for row in read_rows(file)):
        if titles := gold_titles(row):
            yield row.text("question"), titles


def fraction(seed: int, *names: str) -> float:
    """Return a number in [0, 1) that names and seed alone decide, the same on every machine."""
    digest = sha256("\0".join((str(seed), *names)).encode("utf-8", "replace")).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
