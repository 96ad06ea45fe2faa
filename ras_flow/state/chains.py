"""Chains of facts and sentences that lead from an answer back to what the question names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nlargest

from ras_flow.state.evidence import NUMBER, Evidence, Unit, stem

NAME = 2.0
"""What a name or number of the question counts, where another word counts 1."""

LINK = 0.95
"""What is left of a score for each further fact or sentence of a chain."""

LINKS = 4
"""Facts and sentences of a chain at most."""

_BEAM = 12


class Asked:
    """The words of a question that evidence has to cover, and what each of them counts."""

    def __init__(
        self, words: Mapping[str, bool], evidence: Evidence, *, english: bool = True
    ) -> None:
        self._names = {word: NAME * evidence.rarity(word) for word, name in words.items() if name}
        # In other languages a word that nothing has may be a mere "ist".
        least = int(not english)
        self._others = {
            stem(word): evidence.rarity(word, at_least=least)
            for word, name in words.items()
            if not name
        }
        self._spelled = {stem(word): word for word in words}

    def covered(self, units: Iterable[Unit]) -> float:
        """Return the share of the words that units cover; less where names are missing."""
        return self._covered(_words(units))

    def score(self, chain: Sequence[Unit]) -> float:
        """Return what a chain covers, less something for each link."""
        return self.covered(chain) * LINK ** (len(chain) - 1) if chain else 0.0

    def rank(self, chain: Sequence[Unit]) -> tuple[float, bool, int, float]:
        """Return by what a chain is preferred: its score; facts; what these say themselves."""
        said = frozenset[str]().union(*(unit.said for unit in chain))
        facts = sum(bool(unit.triple) for unit in chain)
        number = NUMBER in said or NUMBER not in self._names
        return round(self.score(chain), 6), number, facts, self._covered(said)

    def named(self, units: Iterable[Unit]) -> frozenset[str]:
        """Return the names that units cover."""
        return _words(units) & self._names.keys()

    def missed(self, units: Iterable[Unit]) -> list[str]:
        """Return the words that units do not cover, names first."""
        words = _words(units)
        lacking = [word for word in (*self._names, *self._others) if word not in words]
        return [self._spelled.get(word, word) for word in lacking]

    def _covered(self, words: Collection[str]) -> float:
        names = _share(self._names, words)
        return _share({**self._names, **self._others}, words) * (1 + names) / 2


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
            top = max([top, *beam], key=wanted.rank)
        return top

    def pruned(self, chain: Sequence[Unit], wanted: Asked) -> Sequence[Unit]:
        """Leave out what neither links others nor covers a name of the question alone."""
        for unit in chain[1:]:
            rest = [other for other in chain if other is not unit]
            if wanted.named(rest) == wanted.named(chain) and self._linked(rest):
                chain = rest
        return chain

    def _near(self, chain: Sequence[Unit]) -> dict[Unit, None]:
        near = (unit for name in sorted(self._links(chain)) for unit in self._evidence.at(name))
        return dict.fromkeys(unit for unit in near if unit not in chain)

    def _linked(self, chain: Sequence[Unit]) -> bool:
        return all(chain[at].names & self._links(chain[:at]) for at in range(1, len(chain)))

    def _links(self, units: Iterable[Unit]) -> set[str]:
        return {name for unit in units for name in unit.names & self._linking}


def _words(units: Iterable[Unit]) -> frozenset[str]:
    return frozenset[str]().union(*(unit.words for unit in units))


def _share(weights: Mapping[str, float], words: Collection[str]) -> float:
    """Return the share of some weights that words have; all of nothing."""
    total = sum(weights.values())
    return sum(w for word, w in weights.items() if word in words) / total if total else 1.0
