"""Splits by title, then by text, before anything else is drawn.

The split of an example follows from its title (its main subject where it has none) and the seed
alone, so it does not change when data is added. What is for training goes out where its text is in
another split too, or its title is one of those that an evaluation keeps for itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ras_flow.errors import ConfigurationError
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.titles import short_title
from ras_flow.training.splits import Splitter, fraction
from ras_flow.training.triples.examples import Example


@dataclass(frozen=True)
class Splits:
    """Examples for training, for watching it, and untouched ones."""

    train: list[Example] = field(default_factory=list)
    dev: list[Example] = field(default_factory=list)
    test: list[Example] = field(default_factory=list)


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
