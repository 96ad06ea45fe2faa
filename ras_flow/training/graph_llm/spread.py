"""A start from which soft tokens of different graphs differ.

The mean of a graph's nodes after a few convolutions is nearly the same for every graph, so a new
projector makes nearly the same soft token of all. Training then learns one
good token for every prompt more easily than it widens so small a difference, which soon vanishes.
So a new projector first subtracts what the graphs have in common, and scales the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ras_flow.support.extras import require

if TYPE_CHECKING:
    from ras_flow.graph_llm.batching import Graphs
    from ras_flow.graph_llm.model import GraphLLM

_LEAST = 1e-3
"""Under this share of the vectors' size a dimension's spread tells no graphs apart."""


def spread_soft_tokens(model: GraphLLM, graphs: Graphs) -> None:
    """Fold mean and spread of the graphs' vectors into a new projector (§3.3).

    Both layers then see vectors with mean zero over these graphs, the first also with a spread
    of one in each dimension in which the graphs differ.
    """
    torch = require("torch", extra="local")
    encoder: Any = model.encoder
    projector: Any = model.projector
    inner, outer = projector.inner, projector.outer
    training = model.training
    model.eval()
    with torch.no_grad():
        # One by one: all of them together may need more memory than a step of training.
        vectors = torch.cat([encoder([graph])[0] for graph in graphs])
        vectors = vectors[(vectors != encoder.empty).any(1)]
        if len(vectors) > 1:
            spread = vectors.std(0)
            inner.weight.div_(spread.where(spread > _LEAST * vectors.square().mean().sqrt(), 1.0))
            inner.bias.sub_(inner.weight @ vectors.mean(0))
            hidden = torch.nn.functional.gelu(inner(vectors))
            outer.bias.copy_(-(outer.weight @ hidden.mean(0)))
    model.train(training)
