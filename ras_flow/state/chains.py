"""Chains of facts and sentences that lead from an answer back to what the question names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from typing import NamedTuple

from ras_flow.state.asking import Question
from ras_flow.state.evidence import Evidence, Unit, stem

A_NAME = "@"
"""Stands for a name that a chain is to tell, as ``NUMBER`` does for a number."""

MISFIT = 0.4
"""Factor on the score of an answer of the wrong kind, or of a chain that tells nothing."""

NAME = 2.0
"""Weight of a name, number or relation of the question; other words weigh 1."""

LINK = 0.95
"""Factor on a score for each further fact or sentence of a chain."""

LINKS = 4
"""Facts and sentences of a chain at most."""

_BEAM = 12


class Measured(NamedTuple):
    """How well facts and sentences support an answer; ``why`` says what they lack."""

    score: float
    units: Sequence[Unit] = ()
    why: str = ""


def weakest(found: Sequence[Measured]) -> Measured:
    """Return what is worth the least, with all facts and sentences of all."""
    least = min(found, key=lambda one: one.score)
    return least._replace(units=[unit for one in found for unit in one.units])


class Asked:
    """The words of a question that evidence has to cover, and what each of them counts.

    ``tells`` is what a chain of a side that is compared is to tell beside: a number, a name by one
    of the relations, or nothing.
    """

    def __init__(
        self,
        words: Mapping[str, bool],
        question: Question,
        evidence: Evidence,
        tells: str | None = None,
    ) -> None:
        # In other languages a word that nothing has may be a mere "ist".
        least = int(not question.english)
        forms = {word: word if named else stem(word) for word, named in words.items()}
        weights = {form: evidence.rarity(form, at_least=least) for form in forms.values()}
        related = {form for word, form in forms.items() if word in question.relations}
        self._real = {form for word, form in forms.items() if words[word]}
        self._relations = related - self._real
        counted = self._real | related
        self._names = {form: NAME * weights[form] for form in weights if form in counted}
        self._words = weights | self._names
        self._totals = sum(self._words.values()), sum(self._names.values())
        self._tells = tells
        self._spelled = {form: word for word, form in forms.items()}

    def score(self, chain: Sequence[Unit]) -> float:
        """Return what a chain covers, less something for each link, and where it tells nothing."""
        if not chain:
            return 0.0
        score = self._covered([unit.words for unit in chain]) * LINK ** (len(chain) - 1)
        return score if any(map(self._told, chain)) else score * MISFIT

    def rank(self, chain: Sequence[Unit]) -> tuple[float, int, float]:
        """Return by what a chain is preferred: its score; facts; what these say themselves."""
        facts = len([unit for unit in chain if unit.triple])
        return round(self.score(chain), 6), facts, self._covered([unit.said for unit in chain])

    def needed(self, units: Iterable[Unit]) -> frozenset[str]:
        """Return what units cover that no chain may lose: names, or any words for none.

        What is beside a path says nothing of its relations: that a director married does not lead
        to where his wife was born.
        """
        kept = self._real if self._tells is None else self._names.keys()
        return _words(units) & (kept or self._words.keys())

    def goes_beyond(self, chain: Sequence[Unit], answer: Collection[str]) -> bool:
        """Tell whether a chain goes on to an answer after it said all that it says of the asked."""
        before = _words(chain[1:])
        added = (chain[0].said & self._words.keys()) - before
        return len(chain) > 1 and not added and before.isdisjoint(answer)

    def missed(self, units: Iterable[Unit]) -> list[str]:
        """Return the words that units do not cover, names first."""
        words = _words(units)
        lacking = [word for word in {**self._names, **self._words} if word not in words]
        return [self._spelled[word] for word in lacking]

    def _told(self, unit: Unit) -> bool:
        if self._tells == A_NAME:
            related = not self._relations or not unit.said.isdisjoint(self._relations)
            named = any(not name[0].isdecimal() for name in unit.names - unit.about)
            return related and named
        return not self._tells or self._tells in unit.said

    def _covered(self, texts: Sequence[frozenset[str]]) -> float:
        """Return the share of the words that texts have, less where they lack names."""
        every = named = 0.0
        for word, weight in self._words.items():
            for text in texts:
                if word in text:
                    every += weight
                    named += self._names.get(word, 0.0)
                    break
        words, names = self._totals
        return (every / words if words else 1.0) * (1 + (named / names if names else 1.0)) / 2


class Chains:
    """Finds chains whose facts and sentences are linked by names; some names link nothing."""

    def __init__(self, evidence: Evidence, barred: Collection[str]) -> None:
        self._evidence = evidence
        self._linking = evidence.described - {*barred}

    def best(self, starts: Iterable[Unit], wanted: Asked) -> tuple[Unit, ...]:
        """Return the best chain that begins with one of some units; empty for none."""
        alone: list[tuple[Unit, ...]] = [(unit,) for unit in starts]
        beam = nlargest(_BEAM, alone, key=wanted.rank)
        top = beam[0] if beam else ()
        for _ in range(LINKS - 1):
            longer: dict[frozenset[Unit], tuple[Unit, ...]] = {}
            for chain in beam:
                for unit in self._near(chain):
                    longer.setdefault(frozenset((*chain, unit)), (*chain, unit))
            beam = nlargest(_BEAM, longer.values(), key=wanted.rank)
            top = max([top, *beam[:1]], key=wanted.rank)
        return top

    def pruned(self, chain: Sequence[Unit], wanted: Asked) -> Sequence[Unit]:
        """Leave out what neither links others nor covers what is needed."""
        for unit in chain[1:]:
            rest = self._reached([other for other in chain if other is not unit])
            if len(rest) == len(chain) - 1 and wanted.needed(rest) == wanted.needed(chain):
                chain = rest
        return chain

    def _near(self, chain: Sequence[Unit]) -> dict[Unit, None]:
        rows = {place for one in chain if one.row for place in one.places}
        places = {place for one in chain for place in one.places}
        near = (unit for name in sorted(self._links(chain)) for unit in self._evidence.at(name))
        return {
            unit: None
            for unit in near
            if unit not in chain and unit.places.isdisjoint(places if unit.row else rows)
        }

    def _reached(self, units: Sequence[Unit]) -> list[Unit]:
        """Return those of some units that links lead to from the first of them, in that order."""
        reached, rest = [*units[:1]], [*units[1:]]
        while near := [unit for unit in rest if unit.names & self._links(reached)]:
            reached.append(near[0])
            rest.remove(near[0])
        return reached

    def _links(self, units: Iterable[Unit]) -> set[str]:
        return {name for unit in units for name in unit.names & self._linking}


def _words(units: Iterable[Unit]) -> frozenset[str]:
    return frozenset[str]().union(*(unit.words for unit in units))
