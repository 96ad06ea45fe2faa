"""The folder of a training run, which can stop at any step and go on later."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ras_flow.errors import ConfigurationError
from ras_flow.support.files import write_whole
from ras_flow.support.nested import first_difference, flat
from ras_flow.training.lock import writer_lock
from ras_flow.training.processes import examples_a_step, is_first, processes
from ras_flow.training.settings import TrainingSettings

Logger = Callable[[str], None]
"""Told what happens, a line at a time."""

SETTINGS = "settings.json"
RECORDS = "records"
STEP = "examples of a step"

_FREE = (
    *("optimizer.batch_size", "optimizer.accumulation", "optimizer.workers", "watch.batch_size"),
    *("optimizer.gradient_checkpointing", "optimizer.compile"),
)
"""Settings that may change while a run goes on: they decide speed and memory only."""


@dataclass(frozen=True)
class Progress:
    """How far a training run is.

    Attributes:
        finished: Whether the folder is written; otherwise a checkpoint is, to go on from.
        steps: Steps of the whole run.
    """

    finished: bool
    step: int
    steps: int


@contextmanager
def own_run(output: Path) -> Iterator[Path]:
    """Hold the folder of a run, beside the one that it will write."""
    output = Path(os.path.abspath(output))
    if os.path.lexists(output):  # A link to nothing exists as well.
        raise ConfigurationError(f"{output} exists already. Remove it, or name another folder.")
    run = output.with_name(f"{output.name}.run")
    with writer_lock(run / "run", by="training") if is_first() else nullcontext():
        try:
            yield run
        finally:
            if is_first() and run.is_dir() and os.listdir(run) == ["run.lock"]:
                shutil.rmtree(run)


def finish(run: Path, output: Path, write: Callable[[Path], None]) -> None:
    """Write what a run was for, whole or not at all, and remove the run's folder."""
    scratch = run / "finished"
    shutil.rmtree(scratch, ignore_errors=True)  # A killed process may have left one.
    write(scratch)
    os.replace(scratch, output)
    shutil.rmtree(run)


def claim(
    run: Path, config: TrainingSettings, data: Mapping[str, Iterable[Any]], **facts: Any
) -> None:
    """Note what a run is begun with, or refuse to go on with settings or data that differ."""
    records = {part: _checksum(rows) for part, rows in data.items()}
    now = {
        **config.model_dump(mode="json"),
        **facts,
        RECORDS: records,
        STEP: examples_a_step(config.optimizer),
    }
    begun = _settings(run)
    if begun is None:
        write_whole(run / SETTINGS, json.dumps(now, indent=2))
        return
    name = first_difference(json.loads(json.dumps(now)), begun, but=_FREE)
    if name is None:
        return
    fix = "Remove that folder, or name another output."
    if name.startswith(RECORDS):
        fix = f"The data has changed: build it again as it was. Or start anew. {fix}"
    if name == STEP:
        fix = (
            "They are optimizer.batch_size times optimizer.accumulation times the processes of "
            f"torchrun (now {processes()}). {fix}"
        )
    raise ConfigurationError(
        f"{run} holds a run with other settings: {name} was {flat(begun).get(name)!r} and is "
        f"{flat(now).get(name)!r}. {fix}"
    )


def _settings(run: Path) -> dict[str, Any] | None:
    file = run / SETTINGS
    if not file.is_file():
        return None
    try:
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigurationError(
            f"{file} is damaged. Copy it again; or remove {run} with its checkpoints, and train "
            "anew."
        ) from error
    return found


def _checksum(rows: Iterable[Any]) -> str:
    """Return a checksum of the content of rows, with their number."""
    lines = [json.dumps(row) for row in rows]
    digest = sha256("\n".join(lines).encode()).hexdigest()
    return f"{len(lines)} records, {digest[:12]}"
