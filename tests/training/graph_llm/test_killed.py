"""kill -9 at some moments of a training: the same command goes on, and nothing of it shows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.training.graph_llm import killed
from tests.training.graph_llm.samples import same_weights, train

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_a_killed_training_ends_as_an_unbroken_one(base: Path, data: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(killed.__file__), str(base), str(data), str(tmp_path / "killed")],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.splitlines() == [f"{at} {signal.SIGKILL:d}" for at in killed.MOMENTS]
    watch = {"every": 1, "generate": 0, "dtype": "float32"}
    train(base, data, tmp_path / "whole", watch=watch)
    assert same_weights(tmp_path / "killed", tmp_path / "whole")
    assert not list(tmp_path.glob("*.run"))
