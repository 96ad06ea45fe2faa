"""Made-up facts of the subjects of gold facts, worded as gold facts are.

A gold fact is told in the words of a knowledge graph ("date of birth"), the rest of its page as its
sentences say it: wording alone would tell which triple answers, and whether there is one. Real
extractors word all triples alike. So a page may also tell where its person died, or when its film
came out. Which relations go together, and with what objects, is read off the gold facts themselves.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import permutations
from random import Random

from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.triples import Spo

OFTEN = 3
"""Subjects that have two relations both, at least, before these are taken to go together."""


class Kin:
    """Relations that go together, and their objects."""

    def __init__(self, facts: Iterable[Spo]) -> None:
        objects: defaultdict[str, dict[str, None]] = defaultdict(dict)
        relations: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for subject, predicate, object in facts:
            objects[predicate][object] = None
            relations[normalize_name(subject)][predicate] = None
        together = Counter(
            pair for predicates in relations.values() for pair in permutations(predicates, 2)
        )
        self._objects = {predicate: list(some) for predicate, some in objects.items()}
        self._near: defaultdict[str, list[str]] = defaultdict(list)
        for (one, other), count in together.items():
            if count >= OFTEN:
                self._near[one] += [other] * count

    def fact(self, subject: str, predicate: str, rng: Random) -> Spo | None:
        """Make up a fact that could stand beside one of this subject and predicate."""
        near = self._near.get(predicate)
        if not near:
            return None
        other = rng.choice(near)
        return subject, other, rng.choice(self._objects[other])
