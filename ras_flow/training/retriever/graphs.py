"""The graphs of a data set, and what of them is around a question."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ras_flow.kg.read import Faults, read_triples
from ras_flow.kg.subgraph import Subgraph
from ras_flow.support.files import write_whole
from ras_flow.training.retriever.pool import Walks


class Graph:
    """A whole graph, with its steps and the places of its names."""

    def __init__(self, triples: Subgraph) -> None:
        self.triples = triples
        self.walks = Walks(triples)
        self.places = {name: at for at, name in enumerate(triples.entities)}

    def around(self, names: Sequence[str], depth: int, most: int) -> Subgraph:
        """Return the facts within so many steps of entities, nearer ones first."""
        whole = self.triples
        heads, _, tails = whole.triples.T
        starts = [self.places[name] for name in names if name in self.places]
        near = np.zeros(len(whole.entities), dtype=bool)
        near[starts] = True
        taken = np.zeros(len(whole), dtype=bool)
        rows = np.zeros(0, dtype=np.int64)
        for _ in range(depth):
            new = np.flatnonzero((near[heads] | near[tails]) & ~taken)
            taken[new] = True
            rows = np.concatenate([rows, new])
            near[heads[new]] = near[tails[new]] = True
        return Subgraph.of(map(whole.fact, rows[:most].tolist()), names)


def read_graph(path: Path) -> Graph:
    """Read a graph in any form that ``ras-flow kg build`` takes; values are entities too."""
    rows = read_triples([path], Faults(skip=False))
    return Graph(
        Subgraph.of(
            (head, relation, tail if language is None else tail[1:-1])
            for head, relation, tail, language in rows
        )
    )


def write_graph(path: Path, graph: Graph) -> None:
    """Write a graph, a fact a line."""
    facts = map(graph.triples.fact, range(len(graph.triples)))
    write_whole(path, "".join("\t".join(fact) + "\n" for fact in facts))
