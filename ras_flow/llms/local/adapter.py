"""LoRA adapters, added to their base's weights: inference costs what the base costs."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ras_flow.errors import ConfigurationError
from ras_flow.support.extras import require

ADAPTER_SETTINGS = "adapter_config.json"
ADAPTER = "adapter_model.safetensors"
_DOWN, _UP = ".lora_A.weight", ".lora_B.weight"


@contextmanager
def without_peft_warnings() -> Iterator[None]:
    """Silence the use of a name that newer versions of transformers deprecate, peft's and ours."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*gradient_checkpointing", FutureWarning)
        yield


def merge_adapter(model: Any, folder: Path) -> Any:
    """Add an adapter that peft saved to a model's weights, without importing peft."""
    read = require("safetensors.torch", extra="local").load_file
    settings = json.loads((folder / ADAPTER_SETTINGS).read_text(encoding="utf-8"))
    weights = read(folder / ADAPTER, device=str(model.device))
    scale = settings["lora_alpha"] / settings["r"]
    others = [
        name for name in ("use_rslora", "alpha_pattern", "rank_pattern") if settings.get(name)
    ]
    others += [name for name in weights if not name.endswith((_DOWN, _UP))]
    if others:
        raise ConfigurationError(
            f"The adapter in {str(folder)!r} has {others[0]!r}, which is not merged here. Use one "
            "that ras-flow trained: plain LoRA of linear layers."
        )
    try:
        for name, down in weights.items():
            if name.endswith(_UP):
                continue
            module = name.removeprefix("base_model.model.").removesuffix(_DOWN)
            up = weights[name.removesuffix(_DOWN) + _UP]
            added = (up.float() @ down.float()) * scale
            weight = model.get_submodule(module).weight
            # Not in place: the file's pages, mapped into memory, would be copied one by one.
            weight.data = weight.data + (added.T if settings["fan_in_fan_out"] else added)
    except (AttributeError, KeyError, RuntimeError) as error:
        raise ConfigurationError(
            f"The adapter in {str(folder)!r} does not fit its base model ({error}). Name the model "
            "that it was trained from."
        ) from error
    return model


def round_weights(model: Any, dtype: str) -> Any:
    """Round a model's weights; ``to`` would round what its positions are computed from, too."""
    kind = getattr(require("torch", extra="local"), dtype)
    for weight in model.parameters():
        weight.data = weight.data.to(kind)
    return model
