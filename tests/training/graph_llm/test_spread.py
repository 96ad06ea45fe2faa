"""Soft tokens of different graphs differ when training begins."""

from __future__ import annotations

from pathlib import Path

import torch

from ras_flow.training.graph_llm.start import spread_soft_tokens
from tests.graph_llm.tiny import APART, BRIDGE, HALF, LOOP, build, graph

GRAPHS = [graph(*BRIDGE), graph(*LOOP), graph(*APART), graph(*HALF)]


def test_both_layers_see_what_differs(base: Path) -> None:
    model = build(base)
    spread_soft_tokens(model, GRAPHS)
    with torch.no_grad():
        vectors = torch.cat(model.encoder(GRAPHS))
        filled = vectors[(vectors != 0).any(1)]
        projector = model.projector
        hidden = torch.nn.functional.gelu(projector.inner(filled))
        means = projector.outer(hidden).mean(0)
    assert torch.allclose(means, torch.zeros_like(means), atol=1e-5)


def test_graphs_that_are_all_alike_leave_numbers(base: Path) -> None:
    model = build(base)
    spread_soft_tokens(model, [graph(*LOOP)] * 3)
    with torch.no_grad():
        assert all(tokens.isfinite().all() for tokens in model.soft_tokens(GRAPHS))
        # Half precision, in which they are kept, ends at 65,504.
        assert all(weight.abs().max() < 1000 for weight in model.projector.parameters())
