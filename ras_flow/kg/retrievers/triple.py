"""The triple retriever (eq. 29): a perceptron over question, entities, relation and distances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from ras_flow.kg.retrievers.batch import place_width
from ras_flow.kg.retrievers.model import FactModel, Vectors
from ras_flow.kg.subgraph import Subgraph

SCALE = 5
"""Brings cosines, from 0 to about a half, to the size of other inputs."""


class TripleModel(FactModel):
    """Linear – ReLU – Linear over [question; head; relation; tail].

    The first layer is a sum of one product for each part, computed once for each question, entity
    and relation and added by index. It is what one product of all parts would be. One input is our
    own: how near question and relation are, which holds for relations that no training saw.
    """

    def __init__(
        self, dimension: int, *, hidden: int = 256, rounds: int = 2, entity_text: bool = True
    ) -> None:
        super().__init__()
        width = place_width(rounds)
        self.question = nn.Linear(dimension, hidden)
        self.relation = nn.Linear(dimension, hidden, bias=False)
        self.near = nn.Linear(1, hidden, bias=False)
        self.head_place = nn.Linear(width, hidden, bias=False)
        self.tail_place = nn.Linear(width, hidden, bias=False)
        self.rounds, self.entity_text = rounds, entity_text
        if entity_text:
            self.head_text = nn.Linear(dimension, hidden, bias=False)
            self.tail_text = nn.Linear(dimension, hidden, bias=False)
            self.nameless = nn.Parameter(torch.zeros(1, dimension))
        self.out = nn.Linear(hidden, 1)

    def forward(
        self, given: dict[str, torch.Tensor], labels: torch.Tensor | None = None
    ) -> dict[str, torch.Tensor]:
        """Score triples; with labels also return the mean loss. See :func:`.batch.stack`."""
        head, tail = self.head_place(given["places"]), self.tail_place(given["places"])
        if self.entity_text:
            named = torch.cat([self.nameless, given["texts"]])
            head = head + self.head_text(named)[given["nodes"]]
            tail = tail + self.tail_text(named)[given["nodes"]]
        hidden = head[given["heads"]] + tail[given["tails"]]
        hidden = hidden + self.relation(given["relations"])[given["kinds"]]
        hidden = hidden + self.question(given["questions"])[given["of"]]
        near = SCALE * given["questions"] @ given["relations"].T
        hidden = hidden + self.near(near[given["of"], given["kinds"]].unsqueeze(1))
        logits = self.out(torch.relu(hidden)).squeeze(-1)
        if labels is None:
            return {"scores": logits}
        loss = nn.functional.binary_cross_entropy_with_logits(logits, labels)
        return {"loss": loss, "scores": logits}

    def score_facts(
        self, question: str, graph: Subgraph, vectors: Vectors
    ) -> npt.NDArray[np.float32]:
        """Return each triple's probability as it is stated or with its ends swapped, the higher.

        Distances tell heads from tails, and other graphs state facts the other way round.
        """
        swapped = replace(graph, triples=np.ascontiguousarray(graph.triples[:, ::-1]))
        stated, turned = (
            super(TripleModel, self).score_facts(question, one, vectors) for one in (graph, swapped)
        )
        return torch.from_numpy(np.maximum(stated, turned)).sigmoid().numpy()
