"""A training run that can stop at any step and go on later: its folder, and how far it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ras_flow.errors import ConfigurationError
from ras_flow.files import write_whole

Logger = Callable[[str], None]
"""Told what happens, a line at a time."""

STATE = "trainer_state.json"
SETTINGS = "settings.json"

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


def claim(run: Path, record: Mapping[str, Any]) -> None:
    """Note a run's settings, or check that it was begun with the same.

    Args:
        run: The run's folder.
        record: The settings, as JSON-like data.

    Raises:
        ConfigurationError: It was begun with others; the message names the first that differs.
    """
    file = run / SETTINGS
    wanted = json.loads(json.dumps(record))
    if not file.is_file():
        run.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps(wanted, indent=2))
        return
    begun = _flat(_fixed(json.loads(file.read_text(encoding="utf-8"))))
    now = _flat(_fixed(wanted))
    for name in sorted(begun.keys() | now.keys()):
        if begun.get(name) != now.get(name):
            raise ConfigurationError(
                f"{run} holds a run with other settings: {name} was {begun.get(name)!r} and is "
                f"{now.get(name)!r}. Remove that folder, or name another output."
            )


def last_checkpoint(run: Path) -> Path | None:
    """Return the newest whole checkpoint; what a killed process left half-written is removed."""
    found: dict[int, Path] = {}
    for folder in run.glob("checkpoint-*"):
        if (folder / STATE).is_file() and _readable(folder / STATE):
            found[int(folder.name.partition("-")[2])] = folder
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return found[max(found)] if found else None


def _readable(file: Path) -> bool:
    try:
        json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return True


def _fixed(record: dict[str, Any]) -> dict[str, Any]:
    """Return settings without those that may change, but with their product, which may not."""
    kept = {
        table: {k: v for k, v in values.items() if k not in _FREE.get(table, ())}
        if isinstance(values, dict)
        else values
        for table, values in record.items()
    }
    optimizer = record["optimizer"]
    kept["batch_size times accumulation"] = optimizer["batch_size"] * optimizer["accumulation"]
    return kept


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat
