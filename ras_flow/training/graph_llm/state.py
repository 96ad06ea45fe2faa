"""A run's folder: its settings, and the trainable weights of its checkpoints."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ras_flow.errors import ConfigurationError
from ras_flow.extras import require

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM

WEIGHTS = "trained.safetensors"
STATE = "trainer_state.json"
SETTINGS = "settings.json"

_FREE = {"optimizer": ("batch_size", "accumulation", "workers"), "watch": ("batch_size",)}
"""Settings that may change while a run goes on: they decide speed and memory only."""


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
        scratch = file.with_name(f"{SETTINGS}.unfinished")
        scratch.write_text(json.dumps(wanted, indent=2), encoding="utf-8")
        scratch.replace(file)
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


def save_trained(model: GraphLLM, folder: Path) -> None:
    """Save the trainable weights of a model, and nothing of its base."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {
        name: weight.detach().cpu().contiguous()
        for name, weight in model.named_parameters()
        if weight.requires_grad
    }
    require("safetensors.torch", extra="local").save_file(weights, folder / WEIGHTS)


def load_trained(model: GraphLLM, folder: Path) -> None:
    """Load what :func:`save_trained` wrote.

    Raises:
        ConfigurationError: The weights are missing or damaged, or of a model of another size.
    """
    safetensors = require("safetensors", extra="local")
    torch = require("torch", extra="local")
    read = require("safetensors.torch", extra="local").load_file
    try:
        weights = read(folder / WEIGHTS)
    except (OSError, safetensors.SafetensorError) as error:
        raise ConfigurationError(
            f"The weights in {folder} cannot be read ({error}). Remove that checkpoint; training "
            "goes on from the one before it, or starts again."
        ) from error
    own = {name: one for name, one in model.named_parameters() if one.requires_grad}
    wrong = sorted(
        name
        for name in own.keys() | weights.keys()
        if name not in own or name not in weights or own[name].shape != weights[name].shape
    )
    if wrong:
        raise ConfigurationError(
            f"The weights in {folder} do not fit the base model {model.config.base!r} (they differ "
            f"at {wrong[0]}). Name the base model that the run was begun with, or another output."
        )
    with torch.no_grad():
        for name, weight in weights.items():
            own[name].copy_(weight)


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
