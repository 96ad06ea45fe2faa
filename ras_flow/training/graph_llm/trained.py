"""The trainable weights of a run's checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.build import build_graph_llm
from ras_flow.graph_llm.checkpoint import base_facts
from ras_flow.graph_llm.config import GraphLLMConfig
from ras_flow.support.extras import require
from ras_flow.training.run import first_difference, flat, read_settings

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM

WEIGHTS = "trained.safetensors"

FREE = (
    *("window", "top_k", "max_triples", "answer_passages"),
    *("lora.dropout", "gnn.dropout", "gnn.place"),
)
"""Settings that do not change what weights are of."""


def is_run_checkpoint(folder: Path) -> bool:
    """Tell whether a folder is one that :func:`save_trained` wrote."""
    return (folder / WEIGHTS).is_file()


def model_at(checkpoint: Path, config: GraphLLMConfig) -> GraphLLM:
    """Return the model that a run had at a checkpoint."""
    run = read_settings(checkpoint.parent)
    model = build_graph_llm(config)
    if run is not None:  # It is None if a checkpoint was copied alone.
        made = _made_of(model, run.get("encoder"))
        begun = {name: value for name, value in flat(run).items() if name in made}
        check_same(f"The run of {str(checkpoint)!r}", made, begun)
    load_trained(model, checkpoint)
    return model


def _made_of(model: GraphLLM, encoder: Any) -> dict[str, Any]:
    """Return what a run notes of a model; an encoder that fits is called as the run calls it."""
    config = model.config
    made: dict[str, Any] = {
        "base": base_facts(model.base),
        "model": {"base": config.base},
        "encoder": encoder if config.reads(str(encoder)) else config.encoder,
    }
    if config.lora:
        made["lora"] = config.lora.model_dump(mode="json")
    if config.gnn:
        made["gnn"] = config.gnn.model_dump(mode="json")
        made["model"]["projector_hidden"] = config.projector_hidden
    return flat(made)


def check_same(what: str, wanted: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """Refuse weights of a model that was made otherwise than the settings say."""
    name = first_difference(wanted, found, but=FREE)
    if name is not None:
        raise ConfigurationError(
            f"{what} has {name} = {flat(found).get(name)!r}, and the settings say "
            f"{flat(wanted).get(name)!r}. Weights fit the same model only: set it so, or name "
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
