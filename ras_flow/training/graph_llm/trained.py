"""The trainable weights of a run's checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.build import build_graph_llm
from ras_flow.graph_llm.checkpoint import base_facts
from ras_flow.graph_llm.config import GraphLLMConfig
from ras_flow.support.extras import require
from ras_flow.training.run import flat, read_settings

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM

WEIGHTS = "trained.safetensors"

FREE = ("window", "top_k", "max_triples", "answer_passages", "dropout", "place")
"""What weights can be used with another value of."""


def is_run_checkpoint(folder: Path) -> bool:
    """Tell whether a folder is one that :func:`save_trained` wrote."""
    return (folder / WEIGHTS).is_file()


def model_at(checkpoint: Path, config: GraphLLMConfig) -> GraphLLM:
    """Return the model that a run had at a checkpoint."""
    run = read_settings(checkpoint.parent)
    model = build_graph_llm(config)
    if run is not None:  # None where a checkpoint was copied alone.
        _check_same(model, run, checkpoint)
    load_trained(model, checkpoint)
    return model


def _check_same(model: GraphLLM, run: dict[str, Any], checkpoint: Path) -> None:
    """Refuse what a run tells otherwise; earlier runs do not tell all."""
    config, begun = model.config, flat(run)
    made: dict[str, Any] = {"model": {"base": config.base}, "base": base_facts(model.base)}
    if config.lora:
        made["lora"] = config.lora.model_dump()
    if config.gnn:
        made["gnn"] = config.gnn.model_dump()
        made["model"]["projector_hidden"] = config.projector_hidden
    now = flat(json.loads(json.dumps(made)))
    if not config.reads(begun.get("encoder", config.encoder)):
        now["encoder"] = config.encoder
    for name, value in now.items():
        if begun.get(name, value) != value and name.rpartition(".")[2] not in FREE:
            raise ConfigurationError(
                f"The run of {str(checkpoint)!r} has {name} = {begun[name]!r}, and the settings "
                f"say {value!r}. Its weights are those of the same model only: set it so, or name "
                "another one."
            )


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
    """Load what :func:`save_trained` wrote."""
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
