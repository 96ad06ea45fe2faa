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

from tests.training.graph_llm.samples import FILES, train

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
            *(sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu"),
            *("--num_processes", "2", "--main_process_port", "0"),
            *(str(script), str(base), str(data), str(output)),
        ],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert launched.returncode == 0, launched.stderr[-3000:]
    return launched.stdout


@pytest.mark.slow
def test_two_processes_stop_and_go_on_together_and_learn_what_one_does(
    base: Path, data: Path, tmp_path: Path
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    steps = {"batch_size": 2, "accumulation": 2, "steps": 7}
    train(base, data, one, **STILL, optimizer=steps)
    # Four steps an epoch: the two processes begin in the second one.
    for step in range(1, 6):
        assert train(base, data, two, 0, **STILL, optimizer=steps).step == step
    cut = STILL | {"optimizer": steps | {"accumulation": 1, "gradient_checkpointing": True}}
    assert train_two(base, data, two, cut, (1000, 0)).count("finished=False, step=6") == 2
    assert train_two(base, data, two, cut).count("finished=True") == 2
    for name in FILES:
        ours, theirs = load_file(one / name), load_file(two / name)
        assert all(torch.allclose(ours[key], theirs[key], atol=1e-4) for key in ours), name
