"""What all trained models of facts can do."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from ras_flow.kg.retrievers.batch import Item, Texts, number, place, stack
from ras_flow.kg.subgraph import Subgraph

Vectors = Mapping[str, npt.NDArray[np.float32]]
"""Embedded texts."""


class FactModel(nn.Module):
    """A model that reads vectors of question, relations, and entities if ``entity_text``."""

    rounds = 0
    entity_text = False

    def texts(self, question: str, graph: Subgraph) -> list[str]:
        """Return the texts whose vectors it needs."""
        return list(self._item(question, graph)[1])

    def _item(self, question: str, graph: Subgraph) -> tuple[Item, Texts]:
        texts = Texts()
        asked = number(question, texts)
        return Item(asked, place(graph, texts, self.rounds, named=self.entity_text)), texts

    def score_facts(
        self, question: str, graph: Subgraph, vectors: Vectors
    ) -> npt.NDArray[np.float32]:
        """Score each triple of a subgraph."""
        if not len(graph):
            return np.zeros(0, dtype=np.float32)
        item, texts = self._item(question, graph)
        batch = stack([item], np.stack([vectors[text] for text in texts]))
        device = next(self.parameters()).device
        with torch.inference_mode():
            given = {name: value.to(device) for name, value in batch["given"].items()}
            scores: npt.NDArray[np.float32] = self(given)["scores"].float().cpu().numpy()
        return scores
