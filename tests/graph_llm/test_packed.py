"""Rows end to end, LoRA added to the weights: the loss and the gradients are those of the model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.collate import Collator, Example
from ras_flow.graph_llm.config import LoraConfig
from ras_flow.graph_llm.model import GraphLLM
from ras_flow.graph_llm.packed import PackedGraphLLM, _attend_padded, check_packed
from ras_flow.parts import AnswerRequest, PlanRequest
from tests.graph_llm.tiny import APART, BRIDGE, LINEAR, LOOP, build, chain, graph

Q = "Where was she born?"
LORA = LoraConfig(targets=LINEAR, dropout=0.0)
EXAMPLES = [
    Example(PlanRequest(Q, chain(*BRIDGE), graph(*BRIDGE)), "[SUFFICIENT]"),
    Example(PlanRequest(Q), "[SUBQ] Who is she?"),
    Example(PlanRequest(Q * 9, chain(*LOOP), graph(*LOOP)), "[SUBQ] Where was Mira Lund born?"),
    Example(AnswerRequest(Q, chain(*APART), graph(*APART)), "Narvik"),
]


def losses(model: GraphLLM, packed: Any, batch: Any) -> list[tuple[float, dict[str, torch.Tensor]]]:
    """Return loss and gradients of the model itself and of the packed one."""
    made = []
    for forward in (model, packed):
        model.zero_grad()
        loss = forward(**batch)["loss"]
        loss.backward()
        grads = {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}
        made.append((float(loss.detach()), grads))
    return made


@pytest.fixture(params=["by row", "padded"], autouse=True)
def attending(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attend row by row, as on a CPU, and padded, as on a GPU."""
    if request.param == "padded":
        monkeypatch.setattr("ras_flow.graph_llm.packed._attend_by_row", _attend_padded)


def near(found: torch.Tensor, wanted: torch.Tensor, name: str) -> None:
    assert (found - wanted).norm() <= 1e-3 * wanted.norm() + 1e-6, name


@pytest.mark.parametrize("targets", [LINEAR, ("q_proj", "v_proj"), ("down_proj",)])
def test_loss_and_gradients_are_those_of_the_model(llama: Path, targets: tuple[str, ...]) -> None:
    model = build(llama, lora=LORA.override({"targets": targets}))
    batch = Collator(model.formatter, label_weight=3.0)(EXAMPLES)
    batch["num_items_in_batch"] = torch.tensor(50)  # type: ignore[typeddict-unknown-key]
    (own, wanted), (loss, found) = losses(model, PackedGraphLLM(model), batch)
    assert loss == pytest.approx(own, rel=1e-5)
    assert wanted.keys() == found.keys()
    for name, grad in wanted.items():
        near(found[name], grad, name)


def test_without_a_graph_encoder(llama: Path) -> None:
    model = build(llama, lora=LORA, gnn=None)
    batch = Collator(model.formatter)(EXAMPLES)
    (own, _), (loss, _) = losses(model, PackedGraphLLM(model), batch)
    assert loss == pytest.approx(own, rel=1e-5)


def test_rows_do_not_see_each_other(llama: Path) -> None:
    model = build(llama, lora=LORA)
    packed = PackedGraphLLM(model)
    collate = Collator(model.formatter)
    with torch.no_grad():
        alone = [float(packed(**collate([one]))["loss"]) for one in EXAMPLES]
        counts = [int((collate([one])["labels"] != -100).sum()) for one in EXAMPLES]
        together = float(packed(**collate(EXAMPLES))["loss"])
    mean = sum(loss * n for loss, n in zip(alone, counts, strict=True)) / sum(counts)
    assert together == pytest.approx(mean, rel=1e-5)


def test_in_half_precision(llama: Path) -> None:
    model = build(llama, lora=LORA)
    batch = Collator(model.formatter)(EXAMPLES)
    with torch.no_grad():
        exact = float(model(**batch)["loss"])
    with torch.autocast("cpu", torch.bfloat16):
        loss = PackedGraphLLM(model)(**batch)["loss"]
    loss.backward()
    assert exact != float(loss.detach()) == pytest.approx(exact, rel=0.1)
    assert model.projector.inner.weight.grad.abs().max() > 0


def test_compiled_it_is_the_same(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What is compiled for a CPU takes a C++ compiler, which not every machine has.
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="aot_eager"))
    model = build(llama, lora=LORA)
    packed = PackedGraphLLM(model)
    packed.compile_layers()
    for examples in (EXAMPLES, EXAMPLES[:2]):
        batch = Collator(model.formatter)(examples)
        (own, wanted), (loss, found) = losses(model, packed, batch)
        assert loss == pytest.approx(own, rel=1e-5)
        for name, grad in wanted.items():
            near(found[name], grad, name)


@pytest.mark.parametrize(
    "kind, lora, said",
    [
        ("llama", None, "takes a model with LoRA, and without its dropout"),
        (
            "llama",
            LORA.override({"dropout": 0.1}),
            "takes a model with LoRA, and without its dropout",
        ),
        ("llama", LORA.override({"targets": ("lm_head",)}), "takes LoRA on q_proj, k_proj"),
        ("qwen2", LORA, "takes a base model of type llama .* is of type qwen2"),
    ],
)
def test_what_it_cannot_train_is_refused(
    bases: dict[str, Path], kind: str, lora: LoraConfig | None, said: str
) -> None:
    model = build(bases[kind], lora=lora)
    with pytest.raises(ConfigurationError, match=rf"optimizer\.packed {said}"):
        PackedGraphLLM(model)


def test_a_base_that_it_would_change_is_refused(llama: Path) -> None:
    model = build(llama, lora=LORA)
    batch = Collator(model.formatter)(EXAMPLES)
    packed = PackedGraphLLM(model)
    check_packed(packed, batch)
    for layer in model.base.base_model.layers:
        layer.mlp.act_fn = torch.nn.Tanh()
    with pytest.raises(ConfigurationError, match=r"cannot be trained with optimizer\.packed"):
        check_packed(packed, batch)
