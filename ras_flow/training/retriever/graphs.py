"""The graphs of a data set, and what of them is around a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ras_flow.datasets.reading import read_lines
from ras_flow.errors import InputError
from ras_flow.formats.triples import Spo
from ras_flow.kg.subgraph import Subgraph
from ras_flow.support.files import whole_file
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
    """Read a graph: a fact a line, its parts separated by tabs."""
    return Graph(Subgraph.of(_facts(path)))


def write_graph(path: Path, graph: Graph) -> None:
    """Write a graph as :func:`read_graph` takes it."""
    with whole_file(path) as file:
        for at in range(len(graph.triples)):
            file.write("\t".join(graph.triples.fact(at)) + "\n")


def _facts(path: Path) -> Iterator[Spo]:
    for number, line in read_lines(path):
        match [part.strip() for part in line.split("\t")]:
            case [head, relation, tail] if head and relation and tail:
                yield head, relation, tail
            case _:
                raise InputError(f"{path}:{number}: expected three fields separated by tabs.")
