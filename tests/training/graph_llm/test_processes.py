"""Several processes train one model together."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from ras_flow.training.graph_llm.training import train_graph_llm
from tests.training.graph_llm.samples import ENCODER, config

ROOT = Path(__file__).parents[3]
STILL = {"gnn": {"dropout": 0.0}, "lora": {"dropout": 0.0}, "watch": {"dtype": "float32"}}

SCRIPT = """
import os
import sys
from pathlib import Path
import torch
from ras_flow.training.graph_llm.training import train_graph_llm
from tests.training.graph_llm.samples import ENCODER, config
torch.set_num_threads(1)
base, data, output = map(Path, sys.argv[1:4])
settings = config(base, **{settings})
seconds = {seconds}[int(os.environ["RANK"])]
print(train_graph_llm(settings, output, data=data, encoder=ENCODER, seconds=seconds))
"""


def train_two(
    base: Path,
    data: Path,
    output: Path,
    settings: dict[str, Any],
    seconds: tuple[float | None, float | None] = (None, None),
) -> str:
    """Train with two processes; return what both print."""
    script = output.with_name("train.py")
    script.write_text(
        SCRIPT.replace("{settings}", repr(settings)).replace("{seconds}", repr(seconds))
    )
    launched = subprocess.run(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
            *("--nproc-per-node", "2", str(script), str(base), str(data), str(output)),
        ],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert launched.returncode == 0, launched.stderr[-3000:]
    return launched.stdout


def check_same(folder: Path, other: Path) -> None:
    for name in ("adapter_model.safetensors", "gnn.safetensors"):
        one, two = load_file(folder / name), load_file(other / name)
        assert all(torch.allclose(one[key], two[key], atol=1e-4) for key in one), name


def cut(accumulation: int, steps: int) -> dict[str, Any]:
    optimizer = {"batch_size": 2, "accumulation": accumulation, "steps": steps}
    return STILL | {"optimizer": optimizer}


@pytest.mark.slow
def test_two_processes_learn_what_one_does(base: Path, data: Path, tmp_path: Path) -> None:
    train_graph_llm(config(base, **cut(2, 3)), tmp_path / "one", data=data, encoder=ENCODER)
    assert train_two(base, data, tmp_path / "two", cut(1, 3)).count("finished=True") == 2
    check_same(tmp_path / "one", tmp_path / "two")


@pytest.mark.slow
def test_two_processes_go_on_in_a_later_epoch(base: Path, data: Path, tmp_path: Path) -> None:
    settings = config(base, **cut(2, 7))
    train_graph_llm(settings, tmp_path / "one", data=data, encoder=ENCODER)
    # Four steps an epoch.
    for step in range(1, 6):
        done = train_graph_llm(settings, tmp_path / "two", data=data, encoder=ENCODER, seconds=0)
        assert done.step == step
    assert train_two(base, data, tmp_path / "two", cut(1, 7)).count("finished=True") == 2
    check_same(tmp_path / "one", tmp_path / "two")


@pytest.mark.slow
def test_processes_stop_in_time_together(base: Path, data: Path, tmp_path: Path) -> None:
    said = train_two(base, data, tmp_path / "two", cut(1, 3), seconds=(1000, 0))
    assert said.count("finished=False, step=1") == 2
    assert (tmp_path / "two.run/checkpoint-1").is_dir()
