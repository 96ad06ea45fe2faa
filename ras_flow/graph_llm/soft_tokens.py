"""Soft tokens among the embeddings of words: what a Graph LLM's language model reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from ras_flow.errors import InputError
from ras_flow.graph_llm.batching import GraphBatch, Graphs
from ras_flow.graph_llm.config import GraphLLMConfig
from ras_flow.graph_llm.gnn import GraphEncoder
from ras_flow.graph_llm.prompt import SOFT


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


def all_words(language_model: Any) -> torch.Tensor:
    """Return the embeddings of all tokens as a language model reads them: some scale theirs."""
    embeddings = language_model.get_input_embeddings()
    with torch.inference_mode():
        words: torch.Tensor = embeddings(
            torch.arange(embeddings.weight.shape[0], device=embeddings.weight.device)
        )
    return words


def graph_part(config: GraphLLMConfig, width: int, *, size: float = 1.0) -> nn.ModuleDict:
    """Make an untrained graph encoder and projector."""
    assert config.gnn is not None
    return nn.ModuleDict(
        {
            "encoder": GraphEncoder(config.gnn, config.encoder_dimension),
            "projector": Projector(config.gnn.width, config.projector_hidden, width, size=size),
        }
    )


def encode_graphs(encoder: Any, projector: Any, graphs: Graphs | GraphBatch) -> list[torch.Tensor]:
    """Encode graphs, each to a tensor of shape (soft tokens, width of a word embedding)."""
    # Sums over many edges lose too much in half precision, and graphs are small.
    device = next(projector.parameters()).device
    with torch.autocast(device.type, enabled=False):
        vectors = encoder(graphs)
        projected = projector(torch.cat(vectors))
    return list(torch.split(projected, [len(tokens) for tokens in vectors]))


def place(
    words: torch.Tensor, input_ids: torch.Tensor, soft: Sequence[torch.Tensor]
) -> torch.Tensor:
    """Put each row's soft tokens into its embeddings, where its ids are :data:`.prompt.SOFT`."""
    places = input_ids == SOFT
    tokens = torch.cat([*soft, words.new_zeros(0, words.shape[-1])]).to(words.dtype)
    if int(places.sum()) != len(tokens):
        raise InputError(
            f"There are {int(places.sum())} places for {len(tokens)} soft tokens. Format the "
            "prompts with this model's own formatter, and pass one graph a row."
        )
    return words.masked_scatter(places.unsqueeze(-1), tokens)
