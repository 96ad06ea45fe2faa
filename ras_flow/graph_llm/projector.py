"""From the graph encoder's space into that of the language model's word embeddings."""

from __future__ import annotations

import torch
from torch import nn


class Projector(nn.Module):
    """Two linear layers, scaled to the size of word embeddings.

    A soft token that is many times larger or smaller than the words beside it drowns them or is
    lost among them, and training would first have to find the right size.
    """

    def __init__(self, width: int, hidden: int, out: int, *, size: float = 1.0) -> None:
        super().__init__()
        self.inner = nn.Linear(width, hidden)
        self.outer = nn.Linear(hidden, out)
        self.norm = nn.RMSNorm(out)
        nn.init.constant_(self.norm.weight, size)

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """Project vectors of shape (tokens, width) to (tokens, out)."""
        projected: torch.Tensor = self.norm(self.outer(nn.functional.gelu(self.inner(vectors))))
        return projected
