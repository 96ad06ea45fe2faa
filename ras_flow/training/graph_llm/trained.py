"""The trainable weights of a run's checkpoint, with what they are of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.build import build_graph_llm
from ras_flow.graph_llm.config import GraphLLMConfig
from ras_flow.support.extras import require
from ras_flow.support.nested import first_difference, flat

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM

WEIGHTS = "trained.safetensors"

FREE = (
    *("dtype", "window", "top_k", "max_triples", "answer_passages", "max_hops"),
    *("lora.dropout", "gnn.dropout", "gnn.place"),
)
"""Settings that do not change what weights are of."""


def is_run_checkpoint(folder: Path) -> bool:
    """Tell whether a folder is one that :func:`save_trained` wrote."""
    return (folder / WEIGHTS).is_file()


def model_at(checkpoint: Path, config: GraphLLMConfig) -> GraphLLM:
    """Return the model that a run had at a checkpoint."""
    with _read(checkpoint) as file:
        found = GraphLLMConfig.model_validate_json(file.metadata()["config"])
    check_same(f"The checkpoint {str(checkpoint)!r}", config, found)
    model = build_graph_llm(config)
    load_trained(model, checkpoint)
    return model


def check_same(what: str, wanted: GraphLLMConfig, found: GraphLLMConfig) -> None:
    """Refuse weights of a model that was made otherwise than the settings say."""
    free = (*FREE, "encoder") if wanted.reads(found.encoder) else FREE
    ours, theirs = wanted.model_dump(), found.model_dump()
    name = first_difference(ours, theirs, but=free)
    if name is not None:
        raise ConfigurationError(
            f"{what} has {name} = {flat(theirs).get(name)!r}, and the settings say "
            f"{flat(ours).get(name)!r}. Weights fit the same model only: set it so, or name "
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
    save = require("safetensors.torch", extra="local").save_file
    save(weights, folder / WEIGHTS, {"config": model.config.model_dump_json()})


def load_trained(model: GraphLLM, folder: Path) -> None:
    """Load what :func:`save_trained` wrote."""
    with _read(folder) as file:
        weights = {name: file.get_tensor(name) for name in file.keys()}
    own = {name for name, weight in model.named_parameters() if weight.requires_grad}
    try:
        model.load_state_dict(weights, strict=False)
        wrong = sorted(own ^ weights.keys())
    except RuntimeError as error:
        wrong = [str(error).splitlines()[-1].strip()]
    if wrong:
        raise ConfigurationError(
            f"The weights in {folder} do not fit the settings with {model.config.base!r} as base "
            f"model (they differ at {wrong[0]}). Use the settings that the run was begun with, or "
            "name another output."
        )
    model.forget()


@contextmanager
def _read(folder: Path) -> Iterator[Any]:
    safetensors = require("safetensors", extra="local")
    try:
        with safetensors.safe_open(folder / WEIGHTS, framework="pt") as file:
            yield file
    except (OSError, safetensors.SafetensorError) as error:
        raise ConfigurationError(
            f"The weights in {folder} cannot be read ({error}). Remove that checkpoint; training "
            "goes on from the one before it, or starts again."
        ) from error
