"""A training that is killed at some moments, each time that something of it appears on the disk.

As `python killed.py BASE DATA OUTPUT`; it prints at which moments it was killed. Processes are
forked, so that all packages are imported once.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from pathlib import Path

import peft  # noqa: F401
import torch
from transformers import Trainer  # noqa: F401

from ras_flow.graph_llm.collate import Collator  # noqa: F401
from ras_flow.graph_llm.model import GraphLLM  # noqa: F401
from ras_flow.training.graph_llm.training import train_graph_llm
from tests.training.graph_llm.samples import ENCODER, config

MOMENTS = (
    "settings.json",
    "checkpoint-1/trained.safetensors",
    "checkpoint-2/optimizer.pt",
    "checkpoint-2/trainer_state.json",
    "checkpoint-3",
    "*finished*",
)


def start(base: Path, data: Path, output: Path) -> int:
    """Start the training, and return its process."""
    if process := os.fork():
        return process
    ended = 1
    try:
        settings = config(base, watch={"every": 1, "generate": 0, "dtype": "float32"})
        train_graph_llm(settings, output, data=data, encoder=ENCODER)
        ended = 0
    finally:  # What follows in this file is the parent's.
        if ended:
            traceback.print_exc()
        os._exit(ended)


def main(base: Path, data: Path, output: Path) -> None:
    """Train and kill it at each moment, then train to the end."""
    torch.set_num_threads(1)
    run = output.with_name(f"{output.name}.run")
    for moment in MOMENTS:
        process = start(base, data, output)
        while not any(run.glob(moment)):
            time.sleep(0.0005)
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                sys.exit(f"it ended with {status} before {moment}")
        os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        print(moment, -os.waitstatus_to_exitcode(status), flush=True)
    while not output.exists():
        _, status = os.waitpid(start(base, data, output), 0)
        if status:
            sys.exit(f"it did not go on: {status}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
