"""Graph LLMs on disk: adapter, GNN and projector with a description; never the base's weights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.build import build_graph_llm
from ras_flow.graph_llm.manifest import (
    GNN,
    NAME,
    Manifest,
    checked_manifest,
    is_checkpoint,
    model_card,
    own_tokenizer,
)
from ras_flow.llms.local.adapter import ADAPTER, merge_adapter, round_weights
from ras_flow.llms.local.precision import Precision
from ras_flow.support.extras import require
from ras_flow.support.files import checksum, let_all_read, whole_folder

if TYPE_CHECKING:
    from ras_flow.graph_llm.model import GraphLLM

BASE_FACTS = ("model_type", "hidden_size", "num_hidden_layers", "vocab_size")
"""What must agree between the base that was trained on and the one that is loaded."""


def save_graph_llm(
    model: GraphLLM,
    folder: Path,
    *,
    card: Mapping[str, object] | None = None,
    dtype: Literal["float32", "float16"] = "float32",
) -> None:
    """Save what was trained; a folder is whole or not there."""
    if model.config.lora and not model.has_adapter:
        raise ConfigurationError(
            "This Graph LLM was loaded to be used: its adapter is merged into the base. To save "
            "it, build one with build_graph_llm and put the weights into it with load_weights."
        )
    if folder.exists() and not is_checkpoint(folder) and any(folder.iterdir()):
        raise ConfigurationError(
            f"{str(folder)!r} holds other files than a Graph LLM's. Name a new folder."
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with whole_folder(folder) as scratch:
        _write(model, scratch, card or {}, dtype)


def _write(model: GraphLLM, folder: Path, card: Mapping[str, object], dtype: str) -> None:
    safetensors = require("safetensors.torch", extra="local")
    if model.config.gnn:
        safetensors.save_file(_cast(model.graph_modules.state_dict(), dtype), folder / GNN)
    if model.config.lora:
        peft = require("peft", extra="local")
        weights = peft.get_peft_model_state_dict(model.lm, save_embedding_layers=False)
        settings = model.lm.peft_config["default"]
        # peft puts the folder here that the base was read from, which may be a cache.
        settings.base_model_name_or_path = model.config.base
        settings.save_pretrained(str(folder))
        safetensors.save_file(_cast(weights, dtype), folder / ADAPTER)
    let_all_read(folder)
    files = {path.name: checksum(path) for path in sorted(folder.iterdir())}
    manifest = Manifest(
        config=model.config,
        base=base_facts(model.base),
        files=files,
        end=model.tokenizer.eos_token,
    )
    manifest.write(folder / NAME)
    (folder / "README.md").write_text(model_card(manifest, model, card), encoding="utf-8")


def load_graph_llm(folder: Path, *, precision: Precision = "float32") -> GraphLLM:
    """Load a checkpoint to be used, not trained: its adapter is merged into the base model."""
    manifest = checked_manifest(folder)  # Before the base is read, which takes seconds.
    config = manifest.config

    def adapt(base: Any) -> None:
        _check_base(base, config.base, folder, manifest)
        if config.lora:
            merge_adapter(base, folder)
        if precision == "bfloat16":
            round_weights(base, precision)

    model = build_graph_llm(config, adapt=adapt)
    _put_weights(model, folder, manifest)
    return model.requires_grad_(False)


def load_weights(model: GraphLLM, folder: Path) -> None:
    """Put a checkpoint's weights into a model that is made as it says, to be trained."""
    manifest = checked_manifest(folder)
    _check_base(model.base, model.config.base, folder, manifest)
    _put_weights(model, folder, manifest)


def _check_base(language_model: Any, name: str, folder: Path, manifest: Manifest) -> None:
    """Refuse another base model than the one that was trained on."""
    said = ", ".join(
        f"{fact} {value} instead of {manifest.base.get(fact)}"
        for fact, value in base_facts(language_model).items()
        if value != manifest.base.get(fact)
    )
    if said:
        raise ConfigurationError(
            f"The Graph LLM in {str(folder)!r} does not fit the base model "
            f"{name!r}, which has {said}. Name the base model that it was trained on."
        )


def _put_weights(model: GraphLLM, folder: Path, manifest: Manifest) -> None:
    model.set_tokenizer(own_tokenizer(model.tokenizer, manifest.end, folder))
    read = require("safetensors.torch", extra="local").load_file
    try:
        if model.config.gnn:
            model.graph_modules.load_state_dict(read(folder / GNN))
        if model.has_adapter:
            peft = require("peft", extra="local")
            result = peft.set_peft_model_state_dict(model.lm, read(folder / ADAPTER))
            wrong = [*result.unexpected_keys, *(k for k in result.missing_keys if "lora_" in k)]
            if wrong:
                raise RuntimeError(f"adapter weights differ at {wrong[0]}")
    except RuntimeError as error:
        raise ConfigurationError(
            f"The weights in {str(folder)!r} do not fit its own description "
            f"({str(error).splitlines()[0]}). Copy or train the Graph LLM again."
        ) from error
    model.forget()


def base_facts(language_model: Any) -> dict[str, Any]:
    """Return type and sizes of a base model."""
    config = language_model.config.get_text_config()
    return {name: getattr(config, name, None) for name in BASE_FACTS}


def _cast(weights: Mapping[str, Any], dtype: str) -> dict[str, Any]:
    torch = require("torch", extra="local")
    kind = getattr(torch, dtype)
    found = {}
    for name, weight in weights.items():
        kept = weight.detach().cpu()
        cast = kept.to(kind)
        # What is too large for the type stays as it is: an infinite weight would spoil all.
        found[name] = (cast if cast.isfinite().all() else kept).contiguous()
    return found
