"""The triple retriever (eq. 29): a perceptron over question, entities, relation and distances."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from ras_flow.kg.retrievers import dde


class TripleModel(nn.Module):
    """Linear – ReLU – Linear over [question; head; relation; tail].

    The first layer is a sum of one product for each part, computed once for each question, entity
    and relation and added by index. It is what one product of all parts would be.
    """

    def __init__(
        self, dimension: int, *, hidden: int = 256, rounds: int = 2, entity_text: bool = True
    ) -> None:
        super().__init__()
        width = dde.width(rounds)
        self.question = nn.Linear(dimension, hidden)
        self.relation = nn.Linear(dimension, hidden, bias=False)
        self.head_place = nn.Linear(width, hidden, bias=False)
        self.tail_place = nn.Linear(width, hidden, bias=False)
        self.entity_text = entity_text
        if entity_text:
            self.head_text = nn.Linear(dimension, hidden, bias=False)
            self.tail_text = nn.Linear(dimension, hidden, bias=False)
            self.nameless = nn.Parameter(torch.zeros(1, dimension))
        self.out = nn.Linear(hidden, 1)

    def forward(
        self,
        questions: torch.Tensor,
        texts: torch.Tensor,
        nodes: torch.Tensor,
        relations: torch.Tensor,
        places: torch.Tensor,
        heads: torch.Tensor,
        kinds: torch.Tensor,
        tails: torch.Tensor,
        of: torch.Tensor,
        node_of: torch.Tensor,
        labels: torch.Tensor | None = None,
    ) -> dict[str, Any]:
        """Score triples; with labels also return the mean loss. See :func:`.batch.stack`."""
        head, tail = self.head_place(places), self.tail_place(places)
        if self.entity_text:
            named = torch.cat([self.nameless, texts])
            head = head + self.head_text(named)[nodes]
            tail = tail + self.tail_text(named)[nodes]
        hidden = head[heads] + tail[tails]
        hidden = hidden + self.relation(relations)[kinds] + self.question(questions)[of]
        logits = self.out(torch.relu(hidden)).squeeze(-1)
        if labels is None:
            return {"scores": logits}
        loss = nn.functional.binary_cross_entropy_with_logits(logits, labels)
        return {"loss": loss, "scores": logits}
