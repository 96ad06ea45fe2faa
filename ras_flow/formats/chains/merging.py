"""Merging: chains of one meaning become one, and chains that meet stand together (ReG E.4.2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ras_flow.formats.chains.expansion import Chain


@dataclass(frozen=True)
class Group:
    """Chains that are read together.

    Attributes:
        chains: The chains: one, or those of several roots that meet or are to be compared.
        targets: Where they lead; where they meet, only what they share.
    """

    chains: tuple[Chain, ...]
    targets: tuple[str, ...]

    @property
    def roots(self) -> set[str]:
        """The entities of the question that they begin at."""
        return {chain.root for chain in self.chains}


def merge(groups: Sequence[Group]) -> list[Group]:
    """Merge groups of :func:`merge_entities` as they are read.

    A chain that meets no other is left out where longer ones begin with it. Chains of the same
    relations that lead elsewhere, as in a comparison, stand together as they are.
    """
    return _compared(_longest(groups))


def merge_answers(chains: Iterable[Chain]) -> list[Chain]:
    """Join chains of one root, one path of relations and the same entities between.

    The entities between must agree, lest two films' directors be mixed; those without a name do.
    """
    same: dict[Any, list[Chain]] = {}
    for chain in chains:
        same.setdefault(_meaning(chain), []).append(chain)
    return sorted(map(_joined, same.values()), key=_rank)


def merge_entities(chains: Iterable[Chain]) -> list[Group]:
    """Put chains of different roots together that share targets, of which only these stay.

    Each chain is in one group; the best groups come first.
    """
    ranked = sorted(chains, key=_rank)
    leading: dict[str, list[int]] = {}
    for at, chain in enumerate(ranked):
        for target in chain.targets:
            leading.setdefault(target, []).append(at)
    grouped: set[int] = set()
    groups: list[Group] = []
    for seed, first in enumerate(ranked):
        if seed in grouped:
            continue
        members, roots, targets = [seed], {first.root}, set(first.targets)
        for at in sorted({at for target in first.targets for at in leading[target]} - grouped):
            shared = targets.intersection(ranked[at].targets)
            if shared and ranked[at].root not in roots:
                members.append(at)
                roots.add(ranked[at].root)
                targets = shared
        grouped.update(members)
        kept = tuple(target for target in first.targets if target in targets)
        groups.append(Group(tuple(replace(ranked[at], targets=kept) for at in members), kept))
    return groups


def _longest(groups: Sequence[Group]) -> list[Group]:
    """Leave out single chains with which longer ones begin, and what is one read backwards."""
    begun: dict[Any, set[int]] = {}
    for group in groups:
        for chain in group.chains:
            for end in range(1, len(chain.steps)):
                beginning = chain.root, chain.steps[:end], chain.between[: end - 1]
                begun.setdefault(beginning, set()).update(chain.facts)
    kept: dict[Any, Group] = {}
    for group in groups:
        facts = [chain.facts for chain in group.chains]
        if len(facts) > 1 or not facts[0] <= begun.get(_meaning(group.chains[0]), set()):
            kept.setdefault(tuple(facts), group)
    return list(kept.values())


def _compared(groups: Sequence[Group]) -> list[Group]:
    """Put single chains together that differ in root and targets alone."""
    alike: dict[Any, list[Chain]] = {}
    for group in groups:
        if len(group.chains) == 1:
            alike.setdefault(group.chains[0].steps, []).append(group.chains[0])
    compared: list[Group] = []
    for group in groups:
        first = group.chains[0]
        if len(group.chains) > 1:
            compared.append(group)
        elif first in alike[first.steps]:
            together = {chain.root: chain for chain in reversed(alike[first.steps])}
            members = sorted(together.values(), key=_rank)
            alike[first.steps] = [one for one in alike[first.steps] if one not in members]
            targets = dict.fromkeys(target for one in members for target in one.targets)
            compared.append(Group(tuple(members), tuple(targets)))
    return compared


def _joined(chains: Sequence[Chain]) -> Chain:
    best, *_ = ranked = sorted(chains, key=lambda chain: (-chain.score, chain.targets))
    return replace(
        best,
        targets=tuple(dict.fromkeys(target for chain in ranked for target in chain.targets)),
        facts=frozenset[int]().union(*(chain.facts for chain in chains)),
    )


def _meaning(chain: Chain) -> tuple[Any, ...]:
    return chain.root, chain.steps, chain.between


def _rank(chain: Chain) -> tuple[Any, ...]:
    return -chain.score, *_meaning(chain)
