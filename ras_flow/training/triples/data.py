"""The data of a training run: read, split, limited."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ras_flow.datasets.facts import FactPassage, read_facts, titles_of
from ras_flow.errors import InputError
from ras_flow.formats.normalize import normalize_name
from ras_flow.training.splits import read_apart
from ras_flow.training.triples.config import DataSettings
from ras_flow.training.triples.examples import Example, read_examples
from ras_flow.training.triples.splits import Splits, limit, split


@dataclass(frozen=True)
class TrainingData:
    """Limited splits, and passages with answer-bearing facts whose titles are in no split."""

    splits: Splits
    facts: list[FactPassage]

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of examples by split and source, complete and partial ones apart."""
        return {
            "train": _by_source(self.splits.train, complete=True),
            "train_partial": _by_source(self.splits.train, complete=False),
            "dev": _by_source(self.splits.dev, complete=True),
            "test": _by_source(self.splits.test, complete=True),
        }


def load_data(settings: DataSettings, folder: Path = Path()) -> TrainingData:
    """Read and prepare the data of a run."""
    facts = [fact for name in settings.facts for fact in read_facts(folder / name)]
    if settings.apart_from:
        mixes = [read_apart(folder / name) for name in settings.apart_from]
        reserved = {title for apart in mixes for title in apart.untouched}
        facts = [one for one in facts if normalize_name(one.passage["title"]) in reserved]
    else:
        reserved = {title for name in settings.facts for title in titles_of(folder / name)}
    read = [one for name in settings.files for one in read_examples(folder / name) if one.triples]
    parts = split(
        read,
        dev=settings.dev,
        test=settings.test,
        seed=settings.seed,
        reserved=reserved,
    )
    parts = Splits(
        train=limit(parts.train, settings.most, skip=settings.skip, seed=settings.seed),
        dev=limit(parts.dev, _scaled(settings, settings.dev), seed=settings.seed),
        test=limit(parts.test, _scaled(settings, settings.test), seed=settings.seed),
    )
    if not parts.train:
        raise InputError(
            f"No example of {', '.join(settings.files)} is left to train on. Add data, or lower "
            "the shares `dev` and `test`."
        )
    return TrainingData(parts, facts)


def _scaled(settings: DataSettings, share: float) -> dict[str, int]:
    """Return the limits for a smaller split, so that sources have the same weight there."""
    ratio = share / (1 - settings.dev - settings.test)
    return {source: math.ceil(most * ratio) for source, most in settings.most.items()}


def _by_source(examples: Iterable[Example], *, complete: bool) -> dict[str, int]:
    counts = Counter(e.source for e in examples if e.complete == complete)
    return dict(sorted(counts.items()))
