"""A training that stops, is killed or moved goes on, and ends as an unbroken one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.training.graph_llm.samples import losses, report, same_weights, train

LOST = {"learning_rate": 5.0, "graph_learning_rate": 5.0, "steps": 40, "warmup": 0.0}
"""With these the loss only rises."""


def test_stopped_killed_moved_and_resumed_is_the_same_as_unbroken(
    base: Path, data: Path, unbroken: Path, tmp_path: Path, cut: Callable[[str], Path]
) -> None:
    output = cut("out")
    assert train(base, data, output, seconds=0).step == 2
    half = tmp_path / "out.run" / "checkpoint-3"
    half.mkdir()
    (half / "trained.safetensors").write_bytes(b"half of it")
    moved = tmp_path / "elsewhere" / "out"
    moved.parent.mkdir()
    (tmp_path / "out.run").rename(moved.with_name("out.run"))
    stopped = train(base, data, moved, seconds=0)
    assert (stopped.finished, stopped.step) == (False, 3)
    assert train(base, data, moved, optimizer={"gradient_checkpointing": True}).finished
    assert not moved.with_name("out.run").exists()
    assert losses(moved) == losses(unbroken) and len(losses(unbroken)) >= 6
    assert same_weights(moved, unbroken)


def trained_until_worse(base: Path, data: Path, output: Path, keep: str) -> Any:
    watch = {"every": 1, "patience": 2, "generate": 0, "keep": keep}
    return train(base, data, output, optimizer=LOST, watch=watch)


@pytest.fixture(scope="module")
def worse(base: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs that ended for lack of improvement: ``best`` and ``last`` by what they keep."""
    folder = tmp_path_factory.mktemp("worse")
    for keep in ("best", "last"):
        progress = trained_until_worse(base, data, folder / keep, keep)
        assert progress.finished and progress.step < 40
    return folder


def test_no_lower_loss_ends_a_run_and_the_best_or_last_weights_are_kept(worse: Path) -> None:
    best, last = (report(worse / keep) for keep in ("best", "last"))
    assert best["kept_step"] == best["steps"] - 2 and last["kept_step"] == last["steps"]
    assert last["dev_loss"] > best["dev_loss"]
    assert losses(worse / "last") == losses(worse / "best")
    assert not same_weights(worse / "best", worse / "last")


@pytest.mark.parametrize("keep", ["best", "last"])
def test_a_run_that_ended_is_written_and_not_trained_on(
    base: Path,
    data: Path,
    worse: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    keep: str,
) -> None:
    from ras_flow.training.graph_llm import training

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(training, "finish", killed)
        with pytest.raises(KeyboardInterrupt):
            trained_until_worse(base, data, tmp_path / "out", keep)
    (tmp_path / "moved").mkdir()
    (tmp_path / "out.run").rename(tmp_path / "moved/out.run")
    assert trained_until_worse(base, data, tmp_path / "moved/out", keep).finished
    assert losses(tmp_path / "moved/out") == losses(worse / keep)
    assert same_weights(tmp_path / "moved/out", worse / keep)


@pytest.mark.skipif(shutil.which("c++") is None, reason="torch.compile takes a C++ compiler")
def test_compiled_layers_learn_the_same(base: Path, data: Path, tmp_path: Path) -> None:
    learnt = []
    for compiled in (False, True):
        output = tmp_path / str(compiled)
        optimizer = {"compile": compiled, "batch_size": 4, "accumulation": 1, "steps": 1}
        train(base, data, output, lora={"dropout": 0.0}, optimizer=optimizer)
        learnt.append([value for _, _, value in losses(output)])
    eager, compiled_ones = learnt
    assert compiled_ones == pytest.approx(eager, rel=1e-4)
