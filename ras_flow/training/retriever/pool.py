"""The candidate paths that may explain an answer (§4.1): shortest paths, and facts at both ends.

Those that say the same are shown once, and stand for all that they cover (appendix E.2).

Where the paper is open: a path runs from question to answer or from answer to question, whichever
is shorter, and both ways on a tie. Only where neither exists may it cross facts backwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Literal

from ras_flow.formats.chains.writing import name
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
    """Collect a question's candidate paths, also those ``slack`` steps longer than the shortest."""
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

    yield from go(start)


_Pattern = tuple[str, bool, tuple[tuple[int, bool], ...]]
"""Kind, whether it starts at the question's side, and relations with their directions."""


@dataclass(frozen=True)
class Candidate:
    """A path to choose or reject; its ``members`` have equal relations, also to other answers."""

    shown: Path
    members: tuple[Path, ...]


def merge(graph: Subgraph, pool: Pool, answers: Sequence[int]) -> list[Candidate]:
    """Show the paths of one answer, and of those with equal relations the first."""
    first = representative(graph, pool, answers)
    groups: dict[_Pattern, list[Path]] = {}
    for path in pool.paths:
        groups.setdefault(_pattern(graph, path), []).append(path)
    shown = (
        (next((path for path in members if path.answer in (first, -1)), None), members)
        for members in groups.values()
    )
    return [Candidate(path, tuple(members)) for path, members in shown if path]


def representative(graph: Subgraph, pool: Pool, answers: Sequence[int]) -> int:
    """Return the answer that most of the question's entities reach, then the nearest, by name."""
    nearest: dict[int, dict[int, int]] = {answer: {} for answer in answers}
    for path in pool.paths:
        if path.kind == "path":
            known = nearest[path.answer]
            length = len(path.steps)
            known[path.query] = min(known.get(path.query, length), length)
    return min(
        answers,
        key=lambda one: (-len(nearest[one]), sum(nearest[one].values()), graph.entities[one]),
    )


def paths_of(candidates: Iterable[Candidate], *, expand: bool) -> list[Path]:
    """Return the paths of candidates; with ``expand`` all that they stand for."""
    return [path for one in candidates for path in (one.members if expand else (one.shown,))]


def write_path(graph: Subgraph, path: Path) -> str:
    """Write a path as ``name → [relation] → name``; facts crossed backwards have arrows back."""
    text = name(graph.label(path.start))
    for triple, inverse in path.steps:
        head, relation, tail = graph.triples[triple]
        arrow, other = ("←", int(head)) if inverse else ("→", int(tail))
        text += f" {arrow} [{name(graph.relations[relation])}] {arrow} {name(graph.label(other))}"
    return text


def _pattern(graph: Subgraph, path: Path) -> _Pattern:
    steps = tuple((int(graph.triples[triple, 1]), inverse) for triple, inverse in path.steps)
    anchor = path.answer if path.kind == "answer" else path.query
    return path.kind, path.start == anchor, steps
