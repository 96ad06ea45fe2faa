"""The graph encoder (GNN of eq. 2 and 8; appendix D.2), over torch-geometric's convolutions."""

from __future__ import annotations

import atexit
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import torch
from torch import nn
from torch_geometric.nn import GATConv, GCNConv, TransformerConv
from torch_geometric.utils import scatter

from ras_flow.graph_llm.batching import GraphBatch, Graphs, batch_graphs
from ras_flow.graph_llm.config import GnnConfig


@atexit.register
def _remove_written() -> None:
    """Remove the modules that torch-geometric writes to the temporary folder and leaves there."""
    for name, module in list(sys.modules.items()):
        file = Path(getattr(module, "__file__", None) or "")
        if name.startswith("torch_geometric.nn.conv.") and file.parent == Path(gettempdir()):
            with suppress(OSError):
                file.unlink()


class GraphEncoder(nn.Module):
    """Encodes graphs into one vector a soft token.

    A piece (a hop, or the whole graph) is the mean of its nodes after the last convolution. One
    without nodes is a learned vector, zero before training: that nothing was found, or that
    nothing was searched for yet, is what the first plan rests on, and a zero among word
    embeddings says less than a vector of its own.
    """

    def __init__(self, config: GnnConfig, dimension: int) -> None:
        super().__init__()
        self.config = config
        self.dimension = dimension
        widths = [dimension] + [config.width] * config.layers
        self.convolutions = nn.ModuleList(
            _convolution(config, given, dimension + 1) for given in widths[:-1]
        )
        self.norms = nn.ModuleList(nn.LayerNorm(config.width) for _ in widths[2:])
        self.dropout = nn.Dropout(config.dropout)
        self.empty = nn.Parameter(torch.zeros(config.width))

    def forward(self, graphs: Graphs | GraphBatch) -> list[torch.Tensor]:
        """Encode each graph by itself to a tensor of shape (soft tokens, ``config.width``)."""
        if not isinstance(graphs, GraphBatch):
            graphs = batch_graphs(graphs, self.config, self.dimension)
        batch = graphs.to(self.empty.device)
        nodes = self._convolve(batch.nodes, batch.edge_index, batch.edge_attr)
        count = sum(batch.counts)
        means = scatter(nodes[batch.members], batch.pieces, dim_size=count, reduce="mean")
        filled = torch.bincount(batch.pieces, minlength=count) > 0
        vectors = torch.where(filled.unsqueeze(1), means, self.empty)
        per_graph = torch.split(vectors, batch.counts)
        if self.config.tokens == "per_hop":
            return list(per_graph)
        return [pieces.mean(0, keepdim=True) for pieces in per_graph]

    def _convolve(
        self, nodes: torch.Tensor, edge_index: torch.Tensor, edge_attr: torch.Tensor
    ) -> torch.Tensor:
        given = () if self.config.kind == "gcn" else (edge_attr,)
        for layer, convolution in enumerate(self.convolutions):
            if layer:
                nodes = self.dropout(torch.relu(self.norms[layer - 1](nodes)))
            nodes = convolution(nodes, edge_index, *given)
        return nodes


def _convolution(config: GnnConfig, given: int, edge_dimension: int) -> Any:
    """Make one layer from ``given`` to ``config.width`` channels."""
    if config.kind == "gcn":
        return GCNConv(given, config.width)
    kind = GATConv if config.kind == "gat" else TransformerConv
    return kind(
        given,
        config.width // config.heads,
        heads=config.heads,
        edge_dim=edge_dimension,
        dropout=config.dropout,
    )
