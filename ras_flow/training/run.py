"""A training run that can stop at any step and go on later: its folder, and how far it is."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.support.extras import require
from ras_flow.support.files import write_whole
from ras_flow.training.callbacks import at_end
from ras_flow.training.checkpoints import STATE
from ras_flow.training.lock import writer_lock
from ras_flow.training.processes import is_first, processes

Logger = Callable[[str], None]
"""Told what happens, a line at a time."""

SETTINGS = "settings.json"
LOCK = "run.lock"
STEP = "batch_size times accumulation times processes"
RECORDS = "records"

_FREE = {"optimizer": ("batch_size", "accumulation", "workers"), "watch": ("batch_size",)}
"""Settings that may change while a run goes on: they decide speed and memory only."""


@dataclass(frozen=True)
class Progress:
    """How far a training run is.

    Attributes:
        finished: Whether the folder is written; otherwise a checkpoint is, to go on from.
        step: Steps done.
        steps: Steps of the whole run.
    """

    finished: bool
    step: int
    steps: int


@contextmanager
def own_run(output: Path) -> Iterator[Path]:
    """Give this training the folder of a run, beside the one that it is to write."""
    output = Path(os.path.abspath(output))
    if not output.name:
        raise ConfigurationError(f"{output} cannot be written: name a folder in it.")
    run = output.with_name(f"{output.name}.run")
    with writer_lock(run / Path(LOCK).stem, by="training") if is_first() else nullcontext():
        try:
            # Also a link to nothing: no folder can be put in its place.
            if os.path.lexists(output):
                raise ConfigurationError(
                    f"{output} is there already. Remove it, or name another folder."
                )
            yield run
        finally:
            if is_first() and run.is_dir() and os.listdir(run) == [LOCK]:
                shutil.rmtree(run)


@contextmanager
def full_disks_say(run: Path) -> Iterator[None]:
    """Say what to do where a run's files cannot be written."""
    safetensors = require("safetensors", extra="local")
    try:
        yield
    except (OSError, RuntimeError, safetensors.SafetensorError) as error:
        if not _is_full(error):
            raise
        raise InputError(
            f"{run} cannot be written to ({error}). Free some space there, and give the same "
            "command again: training goes on from its last checkpoint."
        ) from error


def _is_full(error: Exception) -> bool:
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    # Those of safetensors and torch have no number, and are told by their words alone.
    said = ("I/O error", "iostream error", "PytorchStreamWriter", "inline_container")
    return any(words in str(error) for words in said)


def finish(run: Path, output: Path, write: Callable[[Path], None]) -> None:
    """Write what a run was for, whole or not at all, and remove the run's folder."""
    scratch = run / "finished"
    # What a killed process may have left.
    shutil.rmtree(scratch, ignore_errors=True)
    with full_disks_say(run):
        write(scratch)
    os.replace(scratch, output)
    shutil.rmtree(run)


def claim(run: Path, record: Mapping[str, Any], data: Mapping[str, Iterable[Any]]) -> int:
    """Note a run's settings and data, or check that it was begun with the same."""
    records = {part: _checksum(rows) for part, rows in data.items()}
    noted = {**record, RECORDS: records, "processes": processes()}
    wanted = json.loads(json.dumps(noted))
    found = read_settings(run)
    if found is None:
        run.mkdir(parents=True, exist_ok=True)
        write_whole(run / SETTINGS, json.dumps(wanted, indent=2))
        return processes()
    begun, now = flat(_fixed(found)), flat(_fixed(wanted))
    for name in sorted(begun.keys() | now.keys()):
        if begun.get(name) != now.get(name):
            fix = "Remove that folder, or name another output."
            if name.startswith(f"{RECORDS}."):
                fix = f"The data has changed: build it again as it was. Or start anew. {fix}"
            if name == STEP:
                fix = (
                    "Set optimizer.batch_size and optimizer.accumulation, or the processes of "
                    f"torchrun (now {processes()}), so that it is {begun[name]} again; or remove "
                    "that folder, or name another output."
                )
            raise ConfigurationError(
                f"{run} holds a run with other settings: {name} was {begun.get(name)!r} and is "
                f"{now.get(name)!r}. {fix}"
            )
    return _begun_by(found)


def read_settings(run: Path) -> dict[str, Any] | None:
    """Return what :func:`claim` noted; None where it noted nothing."""
    file = run / SETTINGS
    if not file.is_file():
        return None
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        _fixed(found)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ConfigurationError(
            f"{file} is damaged ({type(error).__name__}). Copy it again; or remove {run} with its "
            "checkpoints, and train anew."
        ) from error
    return found


def train_on(trainer: Any, checkpoint: Path | None, *, patience: int = 0) -> bool:
    """Train until the run's end or a callback stops it, and keep the best or the last weights.

    A checkpoint that is at the run's end already is loaded and not trained further.
    """
    if checkpoint is not None:
        trainer_state = require("transformers", extra="local").TrainerState
        state = trainer_state.load_from_json(str(checkpoint / STATE))
        if at_end(state, patience):
            trainer.state = state
            best = checkpoint.with_name(Path(state.best_model_checkpoint or checkpoint).name)
            wanted = trainer.args.load_best_model_at_end and best.is_dir()
            trainer._load_from_checkpoint(str(best if wanted else checkpoint))
            return True
        # Where processes train together, accelerate does not tell it for an epoch that goes on.
        trainer._get_train_sampler().set_epoch(int(state.epoch))
    with full_disks_say(Path(trainer.args.output_dir)):
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    return at_end(trainer.state, patience)


def _checksum(rows: Iterable[Any]) -> str:
    """Return a checksum of the content of rows, with their number."""
    lines = [json.dumps(row) for row in rows]
    digest = sha256("\n".join(lines).encode()).hexdigest()
    return f"{len(lines)} records, {digest[:12]}"


def _fixed(record: dict[str, Any]) -> dict[str, Any]:
    """Return settings without those that may change, but with their product, which may not."""
    optimizer = record["optimizer"]
    step = optimizer["batch_size"] * optimizer["accumulation"] * _begun_by(record)
    kept = {
        table: {k: v for k, v in values.items() if k not in _FREE.get(table, ())}
        if isinstance(values, dict)
        else values
        for table, values in record.items()
        if table != "processes"
    }
    return kept | {STEP: step}


def _begun_by(record: dict[str, Any]) -> int:
    return int(record.get("processes", 1))  # The first runs did not tell: each was of one.


def flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested values by dotted names."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found
