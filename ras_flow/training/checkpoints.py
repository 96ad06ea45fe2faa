"""The checkpoint that a run goes on from: the newest one, if it is whole."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from ras_flow.errors import ConfigurationError
from ras_flow.training.processes import is_first

STATE = "trainer_state.json"
"""Trainer writes it last: if it is there, so is all else."""

_NEEDED = ("*.safetensors", "optimizer.pt", "scheduler.pt", "rng_state*.pth")


def last_checkpoint(run: Path) -> Path | None:
    """Return the newest checkpoint; those that a killed process left half-written are removed."""
    steps = {
        int(number): folder
        for folder in run.glob("checkpoint-*")
        if (number := folder.name.partition("-")[2]).isdecimal()
    }
    for _, folder in sorted(steps.items(), reverse=True):
        try:
            json.loads((folder / STATE).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            if is_first():  # Another process may read it at the same time.
                shutil.rmtree(folder)
            continue
        if problem := _problem(folder):
            raise ConfigurationError(
                f"The checkpoint {folder} is damaged: {problem}. Copy it again; or remove it, and "
                "training goes on from the one before it, or starts again."
            )
        return folder
    return None


def _problem(checkpoint: Path) -> str:
    for name in _NEEDED:
        if not any(checkpoint.glob(name)):
            return f"{name} is missing"
    for file in (*checkpoint.glob("*.pt"), *checkpoint.glob("*.pth")):
        # torch writes zip files; their checksums are read, and nothing is unpickled.
        try:
            with ZipFile(file) as archive:
                wrong = archive.testzip()
        except (BadZipFile, EOFError, OSError) as error:
            wrong = str(error)
        if wrong:
            return f"{file.name} cannot be read ({wrong})"
    return ""
