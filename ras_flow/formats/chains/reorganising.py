"""Triples rewritten as evidence: merged chains, what is left, and what they lead to (ReG §4.2)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from ras_flow.formats.chains.expansion import FORWARD, Chain, ChainForm, expand, leftovers
from ras_flow.formats.chains.merging import Group, merge, merge_answers, merge_entities
from ras_flow.formats.triples import Spo


@dataclass(frozen=True)
class Reorganised:
    """Triples as chains.

    Attributes:
        facts: The triples that chains hold by position.
        groups: The chains that are read together, the best groups first.
        rest: Triples that are in no chain; those of one subject and relation are one.
        met: The groups with all beginnings of longer chains.
        shown: Returns what stands for an entity.
    """

    facts: Sequence[Spo]
    groups: Sequence[Group]
    rest: Sequence[Chain]
    met: Sequence[Group]
    shown: Callable[[str], str] = str

    @property
    def blocks(self) -> list[Sequence[Chain]]:
        """The chains in the order of reading, those together that belong together."""
        return [*(group.chains for group in self.groups), *([chain] for chain in self.rest)]

    def ends(self, *, guess: bool = False) -> list[str]:
        """Return what the best chains lead to; nothing where no fact says more than chance.

        Chains are worth the sum of their triples' scores, so that a triple with a score below 0
        makes a chain no better; with ``guess`` the best count whatever they are worth.
        """
        roots = set[str]().union(*(group.roots for group in self.met))

        def worth(group: Group) -> float:
            return sum(chain.score * len(chain.steps) for chain in group.chains)

        for group in sorted(self.met, key=worth, reverse=True):
            if worth(group) <= 0 and not guess:
                break
            if found := [end for end in group.targets if end not in roots and self._named(end)]:
                return found
        return []

    def leading_to(self, answers: Collection[str]) -> list[int]:
        """Return the positions of the triples that lead to answers, in the order of reading."""
        found: dict[int, None] = {}
        for group in (*self.groups, *self.met):
            for chain in group.chains:
                if {*chain.targets, *chain.between}.isdisjoint(answers):
                    continue
                others = {*chain.targets}.difference(answers)
                for fact in sorted(chain.facts):
                    if others.isdisjoint((self.facts[fact][0], self.facts[fact][2])):
                        found[fact] = None
        return list(found)

    @property
    def names(self) -> dict[str, None]:
        """The names of all entities that have one, in the order of reading."""
        read = (fact for block in self.blocks for chain in block for fact in sorted(chain.facts))
        ends = (end for fact in read for end in (self.facts[fact][0], self.facts[fact][2]))
        return dict.fromkeys(filter(self._named, ends))

    def _named(self, entity: str) -> bool:
        return self.shown(entity) == entity


def reorganise(
    facts: Sequence[Spo],
    roots: Collection[str],
    form: ChainForm = FORWARD,
    *,
    scores: Sequence[float] = (),
    shown: Callable[[str], str] = str,
) -> Reorganised:
    """Rewrite triples as chains; see :func:`expand`."""
    chains = expand(facts, roots, form, scores=scores, shown=shown)
    rest = merge_answers(leftovers(facts, chains, scores=scores))
    met = merge_entities(merge_answers(chains))
    return Reorganised(facts, merge(met), rest, met, shown)
