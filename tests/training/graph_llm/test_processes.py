"""Several processes train one model together."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from ras_flow.training.graph_llm.training import train_graph_llm
from tests.training.graph_llm.samples import ENCODER, config

ROOT = Path(__file__).parents[3]
STILL = {"gnn": {"dropout": 0.0}, "lora": {"dropout": 0.0}, "watch": {"dtype": "float32"}}

SCRIPT = """
import sys
from pathlib import Path
import torch
from ras_flow.training.graph_llm.training import train_graph_llm
from tests.training.graph_llm.samples import ENCODER, config
torch.set_num_threads(1)
base, data, output = map(Path, sys.argv[1:4])
settings = config(base, **{settings})
print(train_graph_llm(settings, output, data=data, encoder=ENCODER))
"""


@pytest.mark.slow
def test_two_processes_learn_what_one_does(base: Path, data: Path, tmp_path: Path) -> None:
    whole, half = (
        STILL | {"optimizer": {"batch_size": 2, "accumulation": number, "steps": 3}}
        for number in (2, 1)
    )
    train_graph_llm(config(base, **whole), tmp_path / "one", data=data, encoder=ENCODER)
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.replace("{settings}", repr(half)))
    launched = subprocess.run(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
            *("--nproc-per-node", "2", str(script), str(base), str(data), str(tmp_path / "two")),
        ],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert launched.returncode == 0, launched.stderr[-3000:]
    assert launched.stdout.count("finished=True") == 2
    for name in ("adapter_model.safetensors", "gnn.safetensors"):
        one, two = load_file(tmp_path / "one" / name), load_file(tmp_path / "two" / name)
        assert all(torch.allclose(one[key], two[key], atol=1e-4) for key in one), name
