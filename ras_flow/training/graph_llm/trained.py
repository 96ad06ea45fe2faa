"""The trainable weights of a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ras_flow.errors import ConfigurationError
from ras_flow.extras import require

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM

WEIGHTS = "trained.safetensors"


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
        ConfigurationError: The weights are missing or damaged, or of a model made otherwise.
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
            f"The weights in {folder} do not fit the settings with {model.config.base!r} as base "
            f"model (they differ at {wrong[0]}). Use the settings that the run was begun with, or "
            "name another output."
        )
    with torch.no_grad():
        for name, weight in weights.items():
            own[name].copy_(weight)
    model.forget()
