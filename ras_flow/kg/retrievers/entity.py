"""The entity retriever (eq. 30): principal neighbourhood aggregation over the subgraph."""

from __future__ import annotations

import torch
from torch import nn
from torch_geometric.nn import PNAConv

from ras_flow.kg.retrievers.batch import place_width
from ras_flow.kg.retrievers.model import FactModel


class EntityModel(FactModel):
    """Scores entities; a triple gets the probabilities of its two.

    Messages go along facts and against them, marked as such. The question is part of every node.
    """

    def __init__(
        self,
        dimension: int,
        *,
        hidden: int = 128,
        rounds: int = 2,
        layers: int = 3,
        entity_text: bool = True,
        degrees: torch.Tensor | None = None,
    ) -> None:
        super().__init__()
        self.rounds, self.entity_text = rounds, entity_text
        self.place = nn.Linear(place_width(rounds), hidden)
        self.question = nn.Linear(dimension, hidden, bias=False)
        self.relation = nn.Linear(dimension, hidden)
        self.backwards = nn.Parameter(torch.zeros(hidden))
        if entity_text:
            self.text = nn.Linear(dimension, hidden, bias=False)
            self.nameless = nn.Parameter(torch.zeros(1, dimension))
        self.convolutions = nn.ModuleList(
            PNAConv(
                hidden,
                hidden,
                aggregators=["mean", "max", "min", "std"],
                scalers=["identity", "amplification", "attenuation"],
                deg=torch.ones(2) if degrees is None else degrees,
                edge_dim=hidden,
            )
            for _ in range(layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(layers))
        self.head = nn.Sequential(nn.Linear(3 * hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(
        self, given: dict[str, torch.Tensor], labels: torch.Tensor | None = None
    ) -> dict[str, torch.Tensor]:
        """Score triples; with labels also return the mean loss over entities."""
        heads, tails = given["heads"], given["tails"]
        asked = self.question(given["questions"])[given["node_of"]]
        first = self.place(given["places"]) + asked
        if self.entity_text:
            first = first + self.text(torch.cat([self.nameless, given["texts"]]))[given["nodes"]]
        edges = torch.stack([torch.cat([heads, tails]), torch.cat([tails, heads])])
        kind = self.relation(given["relations"])[given["kinds"]]
        kind = torch.cat([kind, kind + self.backwards])
        state = first
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            state = state + torch.relu(norm(convolution(state, edges, kind)))
        logits = self.head(torch.cat([state, first, asked], dim=1)).squeeze(-1)
        chance = torch.sigmoid(logits)
        scores = chance[heads] + chance[tails]
        if labels is None:
            return {"scores": scores}
        wanted = torch.zeros_like(logits)
        wanted[heads[labels > 0]] = 1
        wanted[tails[labels > 0]] = 1
        loss = nn.functional.binary_cross_entropy_with_logits(logits, wanted)
        return {"loss": loss, "scores": scores}
