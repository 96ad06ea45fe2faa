"""Expansion: triples at the question's entities grow into chains (ReG, algorithm 1)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ras_flow.formats.triples import Spo


class ChainForm(NamedTuple):
    """How chains are grown.

    Attributes:
        longest: Triples of a chain at most; None for no limit.
        inverse: Whether chains may also go on against a triple's direction, with triples that are
            in no other chain.
        literal: Do as algorithm 1 is printed, which begins at roots alone.
    """

    longest: int | None = None
    inverse: bool = False
    literal: bool = False


FORWARD = ChainForm()


class Step(NamedTuple):
    """A relation of a chain; ``inverse`` where its triple points towards the root."""

    relation: str
    inverse: bool


@dataclass(frozen=True)
class Chain:
    """A path from an entity of the question to its targets.

    Attributes:
        root: The entity of the question.
        steps: The relations on the way.
        between: The entities on the way, as they are shown.
        targets: Where it leads; several after merging.
        score: The mean score of its triples; the best path's after merging.
        facts: Positions of its triples.
    """

    root: str
    steps: tuple[Step, ...]
    between: tuple[str, ...]
    targets: tuple[str, ...]
    score: float
    facts: frozenset[int]


class _Path(NamedTuple):
    """A path that is growing; ``facts`` are positions of triples, each ``inverse`` or not."""

    root: str
    end: str
    facts: tuple[int, ...]
    inverse: tuple[bool, ...]


def expand(
    facts: Sequence[Spo],
    roots: Collection[str],
    form: ChainForm = FORWARD,
    *,
    scores: Sequence[float] = (),
    shown: Callable[[str], str] = str,
) -> list[Chain]:
    """Grow chains from the triples at the question's entities, breadth first.

    Chains begin at a root and follow triples from subject to object, or end at one and are grown
    from object to subject. The beginnings of chains are chains too. Only the first chain of a root
    that reaches an entity leads there. Where the paper is silent: better triples come first; the
    targets of first steps count as reached; and chains do not walk into another root, whose own
    chains meet them. ``shown`` returns what stands for an entity on a chain's way.
    """
    scored = scores or [0.0] * len(facts)
    walk = _Walk(facts, frozenset(roots), form.longest)
    order = list(range(len(facts)))
    if form.literal:
        paths = walk.directed(order, inverse=False, literal=True)
    else:
        order.sort(key=lambda fact: (-scored[fact], facts[fact]))
        paths = [*walk.directed(order, inverse=False), *walk.directed(order, inverse=True)]
        if form.inverse:
            paths += walk.mixed(order, paths)
    return [_chain(path, facts, scored, shown) for path in paths]


def leftovers(
    facts: Sequence[Spo], chains: Iterable[Chain], *, scores: Sequence[float] = ()
) -> list[Chain]:
    """Return the triples that are in no chain, each as a chain from its subject."""
    scored = scores or [0.0] * len(facts)
    used = frozenset[int]().union(*(chain.facts for chain in chains))
    return [
        Chain(subject, (Step(relation, False),), (), (object,), scored[at], frozenset([at]))
        for at, (subject, relation, object) in enumerate(facts)
        if at not in used
    ]


_NearTo = dict[str, list[tuple[int, str, bool]]]
"""By entity: the triples that go on from there, where they lead, and whether inversely."""


class _Walk:
    """Walks over triples that are not at a root, from those that are."""

    def __init__(self, facts: Sequence[Spo], roots: frozenset[str], longest: int | None) -> None:
        self._facts = facts
        self._roots = roots
        self._longest = longest or len(facts)
        self._reached: set[tuple[str, str]] = set()

    def directed(
        self, order: Sequence[int], *, inverse: bool, literal: bool = False
    ) -> list[_Path]:
        """Walk along the triples' direction, or against it."""
        near, far = (2, 0) if inverse else (0, 2)
        starts: list[_Path] = []
        near_to: _NearTo = {}
        for at in order:
            fact = self._facts[at]
            if fact[near] in self._roots:
                starts.append(_Path(fact[near], fact[far], (at,), (inverse,)))
            else:
                near_to.setdefault(fact[near], []).append((at, fact[far], inverse))
        reached = set() if literal else {(path.root, path.end) for path in starts}
        found = self._grow(starts, near_to, reached, frozenset() if literal else self._roots)
        self._reached |= reached
        return found

    def mixed(self, order: Sequence[int], paths: Sequence[_Path]) -> list[_Path]:
        """Go on from paths in any direction, with triples that are in none."""
        used = {at for path in paths for at in path.facts}
        near_to: _NearTo = {}
        for at in order:
            if at not in used:
                subject, _, object = self._facts[at]
                near_to.setdefault(subject, []).append((at, object, False))
                near_to.setdefault(object, []).append((at, subject, True))
        return self._grow(paths, near_to, self._reached, self._roots)[len(paths) :]

    def _grow(
        self,
        starts: Sequence[_Path],
        near_to: _NearTo,
        reached: set[tuple[str, str]],
        barred: frozenset[str],
    ) -> list[_Path]:
        found: list[_Path] = []
        queue = deque(starts)
        while queue:
            path = queue.popleft()
            found.append(path)
            if len(path.facts) >= self._longest:
                continue
            for at, end, inverse in near_to.get(path.end, ()):
                if end not in barred and (path.root, end) not in reached:
                    reached.add((path.root, end))
                    queue.append(_Path(path.root, end, (*path.facts, at), (*path.inverse, inverse)))
        return found


def _chain(
    path: _Path, facts: Sequence[Spo], scores: Sequence[float], shown: Callable[[str], str]
) -> Chain:
    steps = tuple(map(Step, (facts[at][1] for at in path.facts), path.inverse))
    ends = [facts[at][0 if back else 2] for at, back in zip(path.facts, path.inverse, strict=True)]
    return Chain(
        root=path.root,
        steps=steps,
        between=tuple(map(shown, ends[:-1])),
        targets=(ends[-1],),
        score=sum(scores[at] for at in path.facts) / len(path.facts),
        facts=frozenset(path.facts),
    )
