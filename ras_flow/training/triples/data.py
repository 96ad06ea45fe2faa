"""The data of a training run: read, limited, and split by title, then by text.

The split of an example depends only on the seed and on its title (its main subject if it has none),
so it does not change when data is added. An example is left out if an evaluation reserves its
title, or if its text is also in the test split or, for a training example, in the dev split.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ras_flow.datasets.facts import FactPassage, read_facts, titles_of
from ras_flow.errors import ConfigurationError, InputError
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.titles import short_title
from ras_flow.training.splits import Splitter, fraction, read_apart
from ras_flow.training.triples.config import DataSettings
from ras_flow.training.triples.examples import Example, read_examples


@dataclass(frozen=True)
class Splits:
    """Examples for training, for watching it, and untouched ones."""

    train: list[Example] = field(default_factory=list)
    dev: list[Example] = field(default_factory=list)
    test: list[Example] = field(default_factory=list)


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


def title_key(title: str) -> str:
    """Return the form in which two titles are one: normalised, without "(film)" and the like."""
    return normalize_name(short_title(title)) or normalize_name(title)


def split(
    examples: Sequence[Example],
    *,
    dev: float,
    test: float,
    seed: int,
    reserved: Iterable[str] = (),
) -> Splits:
    """Split examples so that no title and no text is on two sides."""
    splitter = Splitter(seed=seed, dev=dev, test=test)
    kept = {title_key(title) for title in reserved}
    parts = Splits()
    assigned: list[tuple[Example, str]] = []
    for example in examples:
        keys = _titles(example)
        if kept.isdisjoint([*keys, normalize_name(example.title)]):
            assigned.append((example, splitter.of(keys[0])))
    texts = {part: _texts(assigned, part) for part in ("test", "dev")}
    for example, part in assigned:
        text = normalize_name(example.text)
        if part != "test" and text in texts["test"] or part == "train" and text in texts["dev"]:
            continue
        if part == "train" or example.complete:
            getattr(parts, part).append(example)
    return parts


def limit(
    examples: Iterable[Example],
    most: Mapping[str, int],
    *,
    seed: int,
    skip: Mapping[str, int] | None = None,
) -> list[Example]:
    """Keep at most so many examples of a source, complete ones first."""
    skip = skip or {}
    if unlimited := sorted(skip.keys() - most.keys()):
        raise ConfigurationError(
            f"data.skip names {unlimited[0]!r}, and data.most does not. Name it in both."
        )
    # By position, since examples of two files may have the same id.
    by_limit: dict[str, list[int]] = {}
    everything = list(examples)
    for at, example in enumerate(everything):
        names = [name for name in most if example.source.startswith(name)]
        if names:
            by_limit.setdefault(max(names, key=len), []).append(at)

    def turn(at: int) -> tuple[bool, float]:
        example = everything[at]
        return not example.complete, fraction(seed, "limit", example.id)

    out: set[int] = set()
    for name, some in by_limit.items():
        some.sort(key=turn)
        first = skip.get(name, 0)
        out.update(some[:first], some[first + most[name] :])
    return [example for at, example in enumerate(everything) if at not in out]


def _titles(example: Example) -> list[str]:
    """Return the title's key, and those of all subjects if it has none."""
    if example.title:
        return [title_key(example.title)]
    subjects = [title_key(subject) for subject, _, _ in example.triples]
    return sorted(dict.fromkeys(subjects), key=lambda s: (-subjects.count(s), s))


def _texts(assigned: Iterable[tuple[Example, str]], part: str) -> Collection[str]:
    return {normalize_name(example.text) for example, at in assigned if at == part}
