"""The candidate paths that may explain an answer (§4.1): shortest paths, and facts at both ends.

Where the paper is open: a path runs from question to answer or from answer to question, whichever
is shorter, and both ways on a tie. Only where neither exists may it cross facts backwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Literal

from ras_flow.kg.subgraph import Subgraph

HOPS = 4
"""Facts in a path at most."""

PATHS = 1000
"""Paths between two entities at most."""

End = Literal["query", "answer", "intermediate"]
Kind = Literal["path", "query", "answer", "intermediate"]

Step = tuple[int, bool]
"""A triple, and whether it is crossed from tail to head."""

Edges = Callable[[int], Sequence[tuple[Step, int]]]
"""The steps out of an entity, and where each leads."""


@dataclass(frozen=True)
class Path:
    """Facts in a row from the entity ``start``, or one fact at an entity of some ``kind``.

    ``query`` and ``answer`` are what it links; -1 if none.
    """

    kind: Kind
    start: int
    steps: tuple[Step, ...]
    query: int = -1
    answer: int = -1


@dataclass(frozen=True)
class Pool:
    """Candidate paths, and the pairs of entities with more than :data:`PATHS` of them."""

    paths: list[Path]
    cut: int


class Walks:
    """A graph's steps by entity, made once for all questions on it."""

    def __init__(self, graph: Subgraph) -> None:
        self.graph = graph
        self._out: list[list[tuple[Step, int]]] = [[] for _ in graph.entities]
        self._into: list[list[tuple[Step, int]]] = [[] for _ in graph.entities]
        for at, (head, _, tail) in enumerate(graph.triples.tolist()):
            self._out[head].append(((at, False), tail))
            self._into[tail].append(((at, True), head))

    def forward(self, entity: int) -> Sequence[tuple[Step, int]]:
        """Return the steps along facts."""
        return self._out[entity]

    def backward(self, entity: int) -> Sequence[tuple[Step, int]]:
        """Return the steps against facts."""
        return self._into[entity]

    def either(self, entity: int) -> Sequence[tuple[Step, int]]:
        """Return the steps in both directions."""
        return [*self._out[entity], *self._into[entity]]


def make_pool(
    walks: Walks,
    queries: Sequence[int],
    answers: Sequence[int],
    *,
    slack: int = 0,
    neighbours: Collection[End] = ("query", "answer"),
) -> Pool:
    """Collect the candidate paths of a question.

    ``slack`` adds simple paths that are so many steps longer than the shortest.
    """
    rows = walks.graph.triples
    paths: list[Path] = []
    cut = 0
    for query, answer in product(queries, answers):
        found = list(islice(_between(walks, query, answer, slack), PATHS + 1))
        cut += len(found) > PATHS
        paths += found[:PATHS]
    on_paths = (int(rows[at, side]) for one in paths for at, _ in one.steps for side in (0, 2))
    inner = [one for one in dict.fromkeys(on_paths) if one not in {*queries, *answers}]
    ends: dict[End, Sequence[int]] = {"query": queries, "answer": answers, "intermediate": inner}
    taken = {path.steps[0][0] for path in paths if len(path.steps) == 1}
    for kind, entities in ends.items():
        for entity in entities if kind in neighbours else ():
            for (triple, _), _ in walks.either(entity):
                if triple not in taken:
                    taken.add(triple)
                    ties = {kind: entity} if kind != "intermediate" else {}
                    paths.append(Path(kind, int(rows[triple, 0]), ((triple, False),), **ties))
    return Pool(paths, cut)


def _between(walks: Walks, query: int, answer: int, slack: int) -> Iterator[Path]:
    """Yield the paths that link two entities, shorter ones first."""
    if query == answer:
        return
    there = _distances(walks.backward, answer)
    back = _distances(walks.backward, query)
    to_answer, to_query = there.get(query, HOPS + 1), back.get(answer, HOPS + 1)
    shortest = min(to_answer, to_query)
    ways: list[tuple[int, int, Edges, dict[int, int]]] = []
    if to_answer == shortest:
        ways.append((query, answer, walks.forward, there))
    if to_query == shortest:
        ways.append((answer, query, walks.forward, back))
    if shortest > HOPS:
        around = _distances(walks.either, answer)
        shortest, ways = around.get(query, HOPS + 1), [(query, answer, walks.either, around)]
    for length in range(shortest, min(shortest + slack, HOPS) + 1):
        for start, end, edges, left in ways:
            for steps in _simple(start, end, edges, left, length):
                yield Path("path", start, steps, query, answer)


def _distances(edges: Edges, start: int) -> dict[int, int]:
    """Return how many steps each entity within :data:`HOPS` is away."""
    away = {start: 0}
    queue = deque([start])
    while queue:
        entity = queue.popleft()
        if away[entity] == HOPS:
            break
        for _, other in edges(entity):
            if other not in away:
                away[other] = away[entity] + 1
                queue.append(other)
    return away


def _simple(
    start: int, end: int, edges: Edges, left: dict[int, int], length: int
) -> Iterator[tuple[Step, ...]]:
    """Yield the paths of exactly so many steps that visit no entity twice."""
    steps: list[Step] = []
    seen = {start}

    def go(entity: int) -> Iterator[tuple[Step, ...]]:
        for step, other in edges(entity):
            rest = length - len(steps) - 1
            if other in seen or left.get(other, HOPS + 1) > rest or (other == end and rest):
                continue
            steps.append(step)
            if other == end:
                yield tuple(steps)
            else:
                seen.add(other)
                yield from go(other)
                seen.remove(other)
            steps.pop()

    if length:
        yield from go(start)
