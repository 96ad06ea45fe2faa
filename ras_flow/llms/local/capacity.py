"""How much a device decodes at once: as much as fits, and on a CPU no more than is worth it."""

from __future__ import annotations

from typing import Any

from ras_flow.support.extras import require

CPU_BYTES = 2_000_000_000
"""Keys and values of a batch on a CPU; on a GPU half of the memory that is free."""

CPU_STEP = 48
"""Tokens that a batch reads at once on a CPU, guesses included: more cost more than they bring."""

GPU_STEP = 1024
"""The same on a GPU, which takes as long for one token as for hundreds."""

GPU_ROWS = 8
"""How many times as many prompts as on a CPU are decoded at once on a GPU."""


def on_gpu(model: Any) -> bool:
    """Tell whether a model is on a GPU."""
    return bool(model.device.type == "cuda")


def tokens_at_once(model: Any) -> int:
    """Return how many tokens' keys and values may be in memory at once, read and written."""
    config = model.config.get_text_config()
    heads = getattr(config, "num_attention_heads", None) or 1
    size = getattr(config, "head_dim", None) or config.hidden_size // heads
    groups = getattr(config, "num_key_value_heads", None) or heads
    a_token = 2 * config.num_hidden_layers * groups * size * model.dtype.itemsize
    free = CPU_BYTES
    if on_gpu(model):
        free = require("torch", extra="local").cuda.mem_get_info(model.device)[0] // 2
    return max(1, int(free // a_token))


def rows_at_once(model: Any, batch_size: int) -> int:
    """Return how many prompts are decoded at once if memory suffices."""
    return batch_size * GPU_ROWS if on_gpu(model) else batch_size


def step_at_once(model: Any) -> int:
    """Return how many tokens a batch reads at once where it has guesses to check."""
    return GPU_STEP if on_gpu(model) else CPU_STEP
