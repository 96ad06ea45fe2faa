"""Training of tiny Graph LLMs: what changes, what is kept, and what is written."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm import model as graph_llm
from ras_flow.graph_llm.build import build_graph_llm
from ras_flow.graph_llm.checkpoint import load_weights
from ras_flow.graph_llm.manifest import read_manifest
from ras_flow.testing import HashEncoder
from ras_flow.training.graph_llm.evaluate import evaluate, evaluate_graph_llm
from ras_flow.training.graph_llm.trained import check_same, save_trained
from ras_flow.training.graph_llm.trainer import parameter_groups
from ras_flow.training.graph_llm.training import train_graph_llm
from tests.graph_llm.tiny import save_base
from tests.training.graph_llm.samples import (
    ENCODER,
    FILES,
    config,
    records,
    report,
    same_weights,
    train,
    write_set,
)

STILL = {"learning_rate": 0.0, "graph_learning_rate": 0.0, "steps": 1}
OTHER = HashEncoder(8)
OTHER.identity = "testing:other"  # type: ignore[misc]


def built(base: Path) -> Any:
    return build_graph_llm(config(base).graph_llm(ENCODER.identity, ENCODER.dimension))


@pytest.mark.parametrize(
    ("without", "expected"),
    [((), {"lora", "encoder", "projector"}), (("graph",), {"lora"}),
     (("lora",), {"encoder", "projector"})],
)  # fmt: skip
def test_exactly_the_intended_weights_change(
    base: Path,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    without: tuple[str, ...],
    expected: set[str],
) -> None:
    from ras_flow.training.graph_llm import start

    built: list[Any] = []
    real = start.build_graph_llm

    def spy(*args: Any) -> Any:
        model = real(*args)
        built.append((model, {name: w.detach().clone() for name, w in model.named_parameters()}))
        return model

    monkeypatch.setattr(start, "build_graph_llm", spy)
    train(base, data, tmp_path / "out", model={"without": without}, watch={"records": 0})
    [(model, before)] = built
    changed = {n for n, w in model.named_parameters() if not torch.equal(w, before[n])}
    parts = {"lora" if ".lora_" in name else name.partition(".")[0] for name in changed}
    assert parts == expected
    wanted = {n for n, w in model.named_parameters() if w.requires_grad}
    # A bias of keys shifts all scores of a softmax alike.
    assert {n for n in wanted - changed if not n.endswith("lin_key.bias")} == set()
    assert changed <= wanted
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert ("gnn.safetensors" in files) == ("graph" not in without)
    assert ("adapter_model.safetensors" in files) == ("lora" not in without)


def test_learning_rates_are_apart_and_biases_do_not_decay(base: Path) -> None:
    optimizer = {"learning_rate": 0.1, "graph_learning_rate": 0.2, "weight_decay": 0.3}
    model = built(base)
    groups = parameter_groups(model, config(base, optimizer=optimizer).optimizer)
    given = {id(w): (g["lr"], g["weight_decay"]) for g in groups for w in g["params"]}
    assert given == {
        id(weight): (0.1 if name.startswith("lm.") else 0.2, 0.3 if weight.ndim > 1 else 0.0)
        for name, weight in model.named_parameters()
        if weight.requires_grad
    }


def test_a_tiny_set_is_learnt_and_reproduced(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Measured on what was learnt.
    monkeypatch.setattr("ras_flow.training.graph_llm.data.check_labels", lambda *_: None)
    rows: list[Any] = [*records(1), records(2)[-1]]
    write_set(tmp_path / "set", rows, rows)
    progress = train(
        base,
        tmp_path,
        tmp_path / "out",
        mix={"first_subq": 1.0},
        lora={"targets": ("q_proj", "k_proj", "v_proj", "o_proj", "up_proj", "down_proj"), "r": 8,
              "dropout": 0.0},
        optimizer={"batch_size": 5, "accumulation": 1, "steps": 110, "learning_rate": 2e-2,
                   "warmup": 0.1},
        gnn={"dropout": 0.0},
        watch={"every": 110, "records": 5, "generate": 5, "dtype": "float32"},
    )  # fmt: skip
    assert progress.finished
    assert report(tmp_path / "out")["dev_loss"] < 0.05
    measures = evaluate_graph_llm(tmp_path / "out", rows, encoder=ENCODER)
    for scores in measures.scores.values():
        assert (scores.right, scores.unusable) == (scores.records, 0)
    assert measures.as_record() == report(tmp_path / "out")["measures"]
    assert measures.texts == ["[SUBQ] it", "[SUBQ] P0?", "[SUFFICIENT]", "Narvik", "Oulu"]


def test_training_goes_on_from_an_earlier_one(
    base: Path, data: Path, unbroken: Path, tmp_path: Path
) -> None:
    start = f"local:{unbroken}"
    elsewhere = {"max_triples": 3, "top_k": 2, "answer_passages": 1, "window": 500}
    gnn = {"place": "label", "dropout": 0.0}
    train(base, data, tmp_path / "out", model={"start": start} | elsewhere, gnn=gnn,
          optimizer=STILL)  # fmt: skip
    assert same_weights(tmp_path / "out", unbroken)
    made = read_manifest(tmp_path / "out").config
    assert made.gnn is not None and made.gnn.place == "label"
    assert {name: getattr(made, name) for name in elsewhere} == elsewhere
    assert f"| Began with | {start} |" in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        # Names and shapes of the weights are the same with the first two.
        ({"lora": {"alpha": 64}}, r"lora\.alpha"),
        ({"gnn": {"scope": "merged"}}, r"gnn\.scope"),
        ({"gnn": {"hidden": 8}}, r"gnn\.hidden"),
    ],
)
def test_weights_go_with_the_model_that_they_are_of(
    base: Path,
    data: Path,
    unbroken: Path,
    begun: Path,
    tmp_path: Path,
    changes: dict[str, Any],
    problem: str,
) -> None:
    checkpoint = begun / "checkpoint-1"
    for start in (unbroken, checkpoint):
        with pytest.raises(ConfigurationError, match=problem):
            train(base, data, tmp_path / "out", model={"start": f"local:{start}"}, **changes)
    with pytest.raises(ConfigurationError, match=problem):
        evaluate(config(base, **changes), str(checkpoint), data=data, encoder=ENCODER)
    assert not list(tmp_path.iterdir())


def test_the_same_sentence_encoder_may_have_another_name() -> None:
    ours, moved, other = (
        config(Path("base")).graph_llm(identity, 8)
        for identity in ("here@0123456789ab", "there@0123456789ab", "here@ba9876543210")
    )
    check_same("It", ours, moved)
    with pytest.raises(ConfigurationError, match="has encoder"):
        check_same("It", ours, other)


def test_what_training_cannot_begin_with_is_refused(
    base: Path, data: Path, begun: Path, tmp_path: Path
) -> None:
    start = {"start": f"local:{begun / 'checkpoint-1'}"}
    for model, problem in (
        ({"start": "local:nowhere"}, "not a Graph LLM"),
        (start | {"without": ("graph",)}, "has gnn"),
    ):
        with pytest.raises(ConfigurationError, match=problem):
            train(base, data, tmp_path / "out", model=model)
    with pytest.raises(ConfigurationError, match="has encoder"):
        train_graph_llm(config(base, model=start), tmp_path / "out", data=data, encoder=OTHER)


def test_a_checkpoint_of_a_run_is_measured(
    base: Path, data: Path, unbroken: Path, tmp_path: Path
) -> None:
    settings, model = config(base), built(base)
    first, last = tmp_path / "checkpoint-0", tmp_path / "checkpoint-4"
    save_trained(model, first)
    load_weights(model, unbroken)
    save_trained(model, last)
    texts = [
        evaluate(settings, str(folder), data=data, encoder=ENCODER).texts
        for folder in (first, last, unbroken)
    ]
    assert texts[1] == texts[2] != texts[0]
    weights = last / "trained.safetensors"
    weights.write_bytes(weights.read_bytes()[:-9])
    with pytest.raises(ConfigurationError, match="cannot be read"):
        evaluate(settings, str(last), data=data, encoder=ENCODER)


def test_another_base_or_sentence_encoder_is_refused(
    base: Path, data: Path, unbroken: Path, tmp_path: Path, cut: Any
) -> None:
    with pytest.raises(ConfigurationError, match="testing:encoder.*not with"):
        evaluate_graph_llm(unbroken, records(1), encoder=OTHER)  # type: ignore[arg-type]
    output, copy = cut("out"), save_base(tmp_path / "base", "qwen2")
    noted = output.with_name("out.run") / "settings.json"
    noted.write_text(noted.read_text().replace(str(base), str(copy)))
    with pytest.raises(ConfigurationError, match=r"base\."):
        train(copy, data, output)
    done = Path(shutil.copytree(unbroken, tmp_path / "done"))
    manifest = done / "graph_llm.json"
    manifest.write_text(manifest.read_text().replace(str(base), str(copy)))
    with pytest.raises(ConfigurationError, match="hidden_size 24 instead of 32"):
        evaluate(config(base), str(done), data=data, encoder=ENCODER)


@pytest.mark.parametrize(
    ("place", "error", "said"),
    [
        ("data.read_split", MemoryError("Unable to allocate"), "data.most"),
        ("data.build_graphs", MemoryError("Unable to allocate"), "data.most"),
        ("GraphEncoder", torch.OutOfMemoryError("CUDA out of memory"), r"gnn.hidden \(now 16\)"),
        (
            "GraphLLM",
            torch.OutOfMemoryError("CUDA out of memory"),
            r"optimizer.batch_size \(now 2\)",
        ),
    ],
)
def test_memory_that_runs_out_says_what_to_lower(
    base: Path,
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    error: Exception,
    said: str,
) -> None:
    from ras_flow.graph_llm.gnn import GraphEncoder
    from ras_flow.training.graph_llm import data as loading

    def full(*_: Any, **__: Any) -> None:
        raise error

    holders = {"GraphEncoder": GraphEncoder, "GraphLLM": graph_llm.GraphLLM}
    name = "forward" if place in holders else place.removeprefix("data.")
    monkeypatch.setattr(holders.get(place, loading), name, full)
    with pytest.raises(ConfigurationError, match=said):
        train(base, data, tmp_path / "out")


def test_a_step_whose_gradients_are_not_finite_changes_no_weight(
    base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, calls = graph_llm.loss_of, iter(range(100))
    bad = 2  # The first half of the second step.

    def some_bad(*given: Any) -> torch.Tensor:
        return own(*given) * (float("nan") if next(calls) == bad else 1.0)

    monkeypatch.setattr(graph_llm, "loss_of", some_bad)
    said: list[str] = []
    settings = config(base, watch={"records": 0})
    train_graph_llm(settings, tmp_path / "out", data=data, encoder=ENCODER, log=said.append)
    assert [line.partition(":")[0] for line in said if "finite" in line] == ["step 2 is skipped"]
    for name in FILES:
        assert all(one.isfinite().all() for one in load_file(tmp_path / "out" / name).values())
