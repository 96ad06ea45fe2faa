"""The folder that training writes.

- ``adapter_model.safetensors`` and ``adapter_config.json``, or a whole model with its tokenizer;
- ``trained.json``: format version, base model, instructions, settings, what it was trained on, and
  the SHA-256 of the weights (:mod:`ras_flow.llms.local.tuned` reads it);
- ``README.md``: the model card.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.llms.local.tuned import FORMAT, MANIFEST
from ras_flow.support.extras import require
from ras_flow.support.files import checksum, let_all_read
from ras_flow.training.texts.config import TextTraining

CARD = "README.md"

Card = Callable[[Mapping[str, Any]], str]
"""Writes the model card of a folder from its ``trained.json``."""


def write_folder(
    folder: Path, model: Any, config: TextTraining, trained: dict[str, Any], card: Card
) -> None:
    """Write a trained model."""
    folder.mkdir(parents=True)
    adapter = config.lora.rank > 0
    if adapter:
        _write_adapter(folder, model, config)
    else:
        model.to(_dtype(config)).save_pretrained(folder)
        chat = config.model.kind == "causal"
        load_tokenizer(config.model.name, chat=chat).save_pretrained(folder)
    let_all_read(folder)
    record = {
        "format": FORMAT,
        "kind": config.model.kind,
        "base": config.model.name,
        "adapter": adapter,
        "instructions": dict(config.instructions),
        "max_new_tokens": config.lengths.target,
        "files": {file.name: checksum(file) for file in sorted(folder.iterdir())},
        "settings": config.model_dump(mode="json"),
        "trained": trained,
    }
    text = json.dumps(record, indent=2, ensure_ascii=False)
    (folder / MANIFEST).write_text(f"{text}\n", encoding="utf-8")
    (folder / CARD).write_text(card(record), encoding="utf-8")


def _write_adapter(folder: Path, model: Any, config: TextTraining) -> None:
    peft = require("peft", extra="local")
    safetensors = require("safetensors.torch", extra="local")
    weights = {
        name: tensor.to(_dtype(config)).contiguous().cpu()
        for name, tensor in peft.get_peft_model_state_dict(model).items()
    }
    safetensors.save_file(weights, folder / "adapter_model.safetensors", {"format": "pt"})
    settings = model.peft_config["default"]
    # It names the folder that the base was read from, which means nothing elsewhere.
    settings.base_model_name_or_path = config.model.name
    settings.inference_mode = True
    if isinstance(settings.target_modules, set):  # Whose order would change from run to run.
        settings.target_modules = sorted(settings.target_modules)
    settings.save_pretrained(str(folder))


def _dtype(config: TextTraining) -> Any:
    return getattr(require("torch", extra="local"), config.saving.dtype)
