"""Cutting the facts around some nodes out of a large graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

MOST = 20_000
"""Facts of a subgraph at most."""
HUB = 1_000
"""Edges that are taken from one node at most, each way."""
_LOOKED_AT = 1_000_000
"""Edges that are gathered in one step at most, those of hubs not counted."""
_HUB_EDGES = 8_000_000
"""Edges of hubs that are ranked in one step at most."""

Ints = npt.NDArray[np.int64]
Small = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]
Score = Callable[[Small, Small], Floats]
"""Rates edges by their relations and the nodes at their other ends."""


@dataclass(frozen=True)
class Edges:
    """All nodes' edges one way: where each node's begin, their relations and their other ends."""

    begins: Ints
    links: Small
    others: Small

    def counts(self, nodes: Ints) -> Ints:
        """Return how many edges nodes have."""
        counts: Ints = self.begins[nodes + 1] - self.begins[nodes]
        return counts

    def _places(self, nodes: Ints) -> tuple[Ints, Ints]:
        """Return the places of all edges of nodes, and the node of each."""
        counts = self.counts(nodes)
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        places = np.arange(total) + np.repeat(self.begins[nodes] - ends + counts, counts)
        return places, np.repeat(nodes, counts)

    def links_of(self, nodes: Ints) -> Small:
        """Return the relations of the edges of nodes."""
        return self.links[self._places(nodes)[0]]

    def rows(self, nodes: Ints, way: int) -> Ints:
        """Return the edges of nodes as rows of head, relation and tail.

        ``way`` is 0 where the nodes are heads, 1 where they are tails.
        """
        return self._rows(*self._places(nodes), way)

    def best_rows(self, node: int, way: int, score: Score) -> Ints:
        """Return a hub's edges with the highest scores as rows; see :meth:`rows`."""
        begin, end = int(self.begins[node]), int(self.begins[node + 1])
        best = begin + _best(score(self.links[begin:end], self.others[begin:end]), HUB)
        return self._rows(best, np.full(len(best), node), way)

    def _rows(self, places: Ints, ends: Ints, way: int) -> Ints:
        links, others = self.links[places], self.others[places]
        columns = (others, links, ends) if way else (ends, links, others)
        return np.stack(columns, axis=1).astype(np.int64)


def cut_out(
    ways: Sequence[Edges],
    topics: Ints,
    depth: int,
    most: int,
    *,
    near: Floats,
    is_end: Callable[[Ints], npt.NDArray[np.bool_]],
) -> tuple[Ints, int]:
    """Walk from topics both ways; return the edges on the way, and how many were left out.

    ``ways`` are the edges by their heads and by their tails; ``near`` tells how near each relation
    is to the question, ``is_end`` which nodes are not walked through. Of a hub, and of the step
    that exceeds ``most``, edges to nodes that were seen are taken first, then the nearest.
    """
    seen = np.zeros(len(ways[0].begins) - 1, bool)
    seen[topics] = True
    rows, cut, frontier = np.zeros((0, 3), np.int64), 0, np.unique(topics)

    def score(links: Small, others: Small) -> Floats:
        return near[links] + 2 * seen[others].astype(np.float32)

    for _ in range(depth):
        parts = [rows]
        for way, edges in enumerate(ways):
            found, left = _around(edges, frontier, way, score)
            parts += found
            cut += left
        known = len(rows)
        merged = np.concatenate(parts)
        rows, is_new = _once(merged, known)
        if len(rows) > most:
            new = np.flatnonzero(is_new)
            ends = seen[rows[new, 0]] & seen[rows[new, 2]]
            kept = new[_best(near[rows[new, 1]] + 2 * ends, most - known)]
            cut += len(rows) - most
            rows = rows[np.union1d(np.flatnonzero(~is_new), kept)]
            break
        reached = np.unique(rows[:, [0, 2]])
        frontier = reached[~seen[reached]]
        seen[frontier] = True
        frontier = frontier[~is_end(frontier)]
    return rows, cut


def _around(edges: Edges, nodes: Ints, way: int, score: Score) -> tuple[list[Ints], int]:
    """Return the edges of nodes, of hubs the best, and how many were left out."""
    nodes = nodes[np.argsort(edges.counts(nodes), kind="stable")]
    counts = edges.counts(nodes)
    hubs = counts > HUB
    fits = np.cumsum(np.where(hubs, 0, counts)) <= _LOOKED_AT
    ranked = np.cumsum(np.where(hubs, counts, 0)) - counts < _HUB_EDGES
    found = [edges.rows(nodes[~hubs & fits], way)]
    found += (edges.best_rows(node, way, score) for node in nodes[hubs & ranked].tolist())
    return found, int(counts.sum()) - sum(map(len, found))


def _once(rows: Ints, known: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Sort rows and keep each once; tell which were not among the first, known ones."""
    is_new = np.arange(len(rows)) >= known
    order = np.lexsort((is_new, rows[:, 2], rows[:, 1], rows[:, 0]))
    rows, is_new = rows[order], is_new[order]
    first = np.ones(len(rows), bool)
    first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return rows[first], is_new[first]


def _best(scores: Floats, most: int) -> Ints:
    """Return the places of the highest scores; of equal ones the first."""
    if len(scores) <= most:
        return np.arange(len(scores))
    least = np.partition(scores, len(scores) - most)[len(scores) - most]
    above = np.flatnonzero(scores > least)
    equal = np.flatnonzero(scores == least)[: most - len(above)]
    return np.union1d(above, equal)
