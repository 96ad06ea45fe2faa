"""The trainable weights of a run's checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ras_flow.errors import ConfigurationError
from ras_flow.extras import require
from ras_flow.graph_llm.build import build_graph_llm
from ras_flow.graph_llm.config import GraphLLMConfig

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM

WEIGHTS = "trained.safetensors"


def is_run_checkpoint(folder: Path) -> bool:
    """Tell whether a folder is one that :func:`save_trained` wrote."""
    return (folder / WEIGHTS).is_file()


def model_at(checkpoint: Path, config: GraphLLMConfig) -> GraphLLM:
    """Return the model that a run had at a checkpoint.

    Args:
        checkpoint: Its folder, such as ``OUTPUT.run/checkpoint-500``.
        config: What the run's model is made of.

    Raises:
        ConfigurationError: The weights are missing or damaged, or of a model made otherwise; or
            the base model cannot be read.
    """
    model = build_graph_llm(config)
    load_trained(model, checkpoint)
    return model


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
