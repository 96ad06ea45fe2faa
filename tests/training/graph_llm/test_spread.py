"""Soft tokens of different graphs differ when training begins."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from ras_flow.training.graph_llm.spread import spread_soft_tokens
from tests.graph_llm.tiny import APART, BRIDGE, FAILED, HALF, LOOP, build, graph

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


@pytest.mark.parametrize("graphs", [[graph(*FAILED), None], [graph(*LOOP)]])
def test_too_few_graphs_change_nothing(base: Path, graphs: list[object]) -> None:
    model = build(base)
    before = {name: weight.clone() for name, weight in model.named_parameters()}
    spread_soft_tokens(model, graphs)  # type: ignore[arg-type]
    assert all(torch.equal(before[name], weight) for name, weight in model.named_parameters())


def test_graphs_that_are_all_alike_leave_numbers(base: Path) -> None:
    model = build(base)
    spread_soft_tokens(model, [graph(*LOOP)] * 3)
    with torch.no_grad():
        assert all(tokens.isfinite().all() for tokens in model.soft_tokens(GRAPHS))
        # Half precision, in which they are kept, ends at 65,504.
        assert all(weight.abs().max() < 1000 for weight in model.projector.parameters())


def test_the_model_stays_in_its_mode_which_changes_nothing(base: Path) -> None:
    learning, used = build(base).train(), build(base).eval()
    for model, mode in ((learning, True), (used, False)):
        spread_soft_tokens(model, GRAPHS)
        assert model.training is mode
    for one, other in zip(
        learning.projector.parameters(), used.projector.parameters(), strict=True
    ):
        assert torch.equal(one, other), "without dropout"
