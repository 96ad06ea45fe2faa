"""Which of a run's checkpoints it goes on from: the newest that has all that going on needs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from ras_flow.errors import ConfigurationError
from ras_flow.training.processes import processes

STATE = "trainer_state.json"
"""Trainer writes it last: where it is, all else was written."""

WEIGHTS = "*.safetensors"
ONE_RANDOM = "rng_state.pth"


def last_checkpoint(run: Path, begun: int = 1) -> Path | None:
    """Return the newest whole checkpoint.

    What a killed process left half-written is removed, and so is what is newer and lacks a file.
    """
    found: dict[int, Path] = {}
    for folder in run.glob("checkpoint-*"):
        number = folder.name.partition("-")[2]
        if not number.isdecimal():
            continue  # A copy, by hand.
        if _json_of(folder / STATE) is None:
            shutil.rmtree(folder, ignore_errors=True)
        else:
            found[int(number)] = folder
    if not found:
        return None
    wrong = {step: _wrong(folder, begun) for step, folder in found.items()}
    newest, whole = max(found), max((step for step in found if not wrong[step]), default=None)
    if whole is None:
        raise ConfigurationError(
            f"{wrong[newest]}, and no checkpoint before is whole. Copy that checkpoint again; or "
            "remove it, and training starts again."
        )
    for step, folder in found.items():
        if step > whole:
            shutil.rmtree(folder, ignore_errors=True)
    for file in (*found[whole].glob("*.pt"), *found[whole].glob("*.pth")):
        _check_zip(file)
    return found[whole]


def _wrong(checkpoint: Path, begun: int) -> str:
    """Return why a checkpoint is not whole; empty where it is."""
    state = _json_of(checkpoint / STATE)
    if not (
        isinstance(state, dict)
        and all(isinstance(state.get(name), int) for name in ("global_step", "max_steps"))
        and isinstance(state.get("log_history"), list)
    ):
        return f"{checkpoint / STATE} is damaged"
    names = [WEIGHTS, "optimizer.pt", "scheduler.pt", *_random_states(checkpoint, begun)]
    missing = [name for name in names if not any(checkpoint.glob(name))]
    return f"{checkpoint} has no {missing[0]}" if missing else ""


def _random_states(checkpoint: Path, begun: int) -> list[str]:
    """Return the files of random numbers that there must be: several processes have one each.

    A run may go on with more processes than have written a checkpoint, or with fewer.
    """
    if not any(checkpoint.glob("rng_state_*.pth")):
        return [ONE_RANDOM]
    if (checkpoint / ONE_RANDOM).is_file():
        return []
    return [f"rng_state_{rank}.pth" for rank in range(max(2, min(begun, processes())))]


def _check_zip(file: Path) -> None:
    """Check a file that torch wrote, which is a zip file, without unpickling it."""
    try:
        with ZipFile(file) as packed:
            problem = packed.testzip()
    except (BadZipFile, EOFError, OSError) as error:
        problem = str(error)
    if problem:
        raise ConfigurationError(
            f"{file} cannot be read ({problem}). Remove that checkpoint; training goes on from the "
            "one before it, or starts again."
        )


def _json_of(file: Path) -> Any:
    """Return what a file holds; None where it is not there, or half-written."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
