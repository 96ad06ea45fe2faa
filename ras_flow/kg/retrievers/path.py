"""The path retriever (eq. 31): plans the relations that lead to an answer, one after another.

A beam goes over the sequences of relations that the graph has from the question's entities. A
relation's code is 1 + 2 · its number, one more if facts are crossed from tail to head; 0 stops.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from ras_flow.kg.retrievers.batch import relation_text
from ras_flow.kg.retrievers.model import FactModel, Vectors
from ras_flow.kg.subgraph import Subgraph

HOPS = 4
BEAM = 20
STOP = 0

Codes = npt.NDArray[np.int64]
Near = npt.NDArray[np.bool_]
Planned = tuple[float, tuple[int, ...]]
"""The logarithm of a path's probability, and its codes."""


class PathModel(FactModel):
    """A recurrent network over the vectors of relations; the question is its first state."""

    def __init__(self, dimension: int, *, hidden: int = 256) -> None:
        super().__init__()
        self.question = nn.Linear(dimension, hidden)
        self.relation = nn.Linear(dimension, hidden)
        self.backwards = nn.Parameter(torch.zeros(hidden))
        self.stop = nn.Parameter(torch.zeros(1, hidden))
        self.cell = nn.GRUCell(hidden, hidden)
        self.out = nn.Linear(2 * hidden, hidden)

    def codes(self, relations: torch.Tensor) -> torch.Tensor:
        """Return a vector for each code."""
        along = self.relation(relations)
        both = torch.stack([along, along + self.backwards], dim=1).flatten(0, 1)
        return torch.cat([self.stop, both])

    def logits(
        self, first: torch.Tensor, state: torch.Tensor, options: torch.Tensor
    ) -> torch.Tensor:
        """Return how well each option, of shape (rows, options, width), goes on from a state."""
        asked = self.out(torch.cat([first, state], dim=1))
        found: torch.Tensor = (options @ asked.unsqueeze(2)).squeeze(2) / asked.shape[1] ** 0.5
        return found

    def forward(
        self,
        questions: torch.Tensor,
        relations: torch.Tensor,
        options: torch.Tensor,
        targets: torch.Tensor,
        weights: torch.Tensor,
    ) -> dict[str, Any]:
        """Return the loss of paths, each a row: the codes to choose among, and the one to choose.

        ``options`` has shape (paths, steps, options), ``targets`` (paths, steps); -1 fills both.
        """
        codes = self.codes(relations)
        first = torch.tanh(self.question(questions))
        state, loss = first, first.new_zeros(())
        for step in range(targets.shape[1]):
            some, target = options[:, step], targets[:, step]
            logits = self.logits(first, state, codes[some.clamp(min=0)])
            logits = logits.masked_fill(some < 0, -1e9)
            at = target.clamp(min=0).unsqueeze(1)
            chosen = logits.log_softmax(1).gather(1, at).squeeze(1)
            loss = loss - (chosen * weights * (target >= 0)).sum()
            state = self.cell(codes[some.gather(1, at).squeeze(1).clamp(min=0)], state)
        return {"loss": loss}

    def score_facts(
        self, question: str, graph: Subgraph, vectors: Vectors
    ) -> npt.NDArray[np.float32]:
        """Return the probability of the likeliest path that each triple is on, else 0."""
        return mark(graph, self._plan(question, graph, vectors))

    def _plan(self, question: str, graph: Subgraph, vectors: Vectors) -> list[Planned]:
        relations = [vectors[relation_text(name)] for name in graph.relations]
        asked = np.stack([vectors[question], *relations])
        with torch.inference_mode():
            given = torch.from_numpy(asked).to(self.stop.device)
            codes = self.codes(given[1:])
            first = torch.tanh(self.question(given[:1]))
            beam: list[tuple[float, torch.Tensor, Near, tuple[int, ...]]] = [
                (0.0, first, topics_of(graph), ())
            ]
            ended: list[Planned] = []
            for hop in range(HOPS + 1):
                grown: list[tuple[float, int, int]] = []
                for at, (chance, state, near, _) in enumerate(beam):
                    options = options_at(graph, near)
                    logits = self.logits(first, state, codes[options].unsqueeze(0))[0]
                    gains = logits.log_softmax(0).tolist()
                    grown += [
                        (chance + gain, at, int(code))
                        for gain, code in zip(gains, options, strict=True)
                        if hop < HOPS or code == STOP
                    ]
                grown = sorted(grown, reverse=True)[:BEAM]
                ended += [(chance, beam[at][3]) for chance, at, code in grown if code == STOP]
                beam = [
                    (
                        chance,
                        self.cell(codes[code : code + 1], beam[at][1]),
                        step(graph, beam[at][2], code)[1],
                        (*beam[at][3], code),
                    )
                    for chance, at, code in grown
                    if code != STOP
                ]
        return sorted(ended)[-BEAM:]


def options_at(graph: Subgraph, near: Near) -> Codes:
    """Return the codes of the relations at some entities, and the stop."""
    heads, kinds, tails = graph.triples.T
    along, against = kinds[near[heads]], kinds[near[tails]]
    return np.unique(np.concatenate([[STOP], 1 + 2 * along, 2 + 2 * against]))


def step(graph: Subgraph, near: Near, code: int) -> tuple[npt.NDArray[np.int64], Near]:
    """Return the triples that a relation crosses from some entities, and where they lead."""
    kind, inverse = divmod(code - 1, 2)
    start, end = graph.triples[:, 2 if inverse else 0], graph.triples[:, 0 if inverse else 2]
    crossed = np.flatnonzero(near[start] & (graph.triples[:, 1] == kind))
    reached = np.zeros(len(near), dtype=bool)
    reached[end[crossed]] = True
    return crossed, reached


def topics_of(graph: Subgraph) -> Near:
    """Return which entities are the question's."""
    near = np.zeros(len(graph.entities), dtype=bool)
    near[graph.topics] = True
    return near


def mark(graph: Subgraph, paths: Iterable[Planned]) -> npt.NDArray[np.float32]:
    """Return for each triple the probability of the likeliest path that it is on."""
    scores = np.zeros(len(graph), dtype=np.float32)
    for chance, path in paths:
        for triple in _on_the_way(graph, path):
            scores[triple] = max(scores[triple], np.exp(chance))
    return scores


def _on_the_way(graph: Subgraph, path: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Return the triples by which a path's relations lead to where it ends."""
    near, layers = topics_of(graph), []
    for code in path:
        crossed, near = step(graph, near, code)
        layers.append(crossed)
    found = [np.zeros(0, dtype=np.int64)]
    for code, crossed in zip(reversed(path), reversed(layers), strict=True):
        inverse = (code - 1) % 2
        starts, ends = graph.triples[crossed, 2 * inverse], graph.triples[crossed, 2 - 2 * inverse]
        crossed, starts = crossed[near[ends]], starts[near[ends]]
        found.append(crossed)
        near = np.zeros_like(near)
        near[starts] = True
    return np.unique(np.concatenate(found))
