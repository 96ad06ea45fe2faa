"""How much is decoded at once: by a model's sizes, and by what the device has."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import GPT2Config, LlamaConfig

from ras_flow.llms.local import capacity

SMOLLM2 = LlamaConfig(
    hidden_size=576, num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3
)
A_TOKEN = 2 * 30 * 3 * 64 * 4
"""Bytes: keys and values, layers, groups, head size, float32."""


def on(device: str, config: Any = SMOLLM2, dtype: torch.dtype = torch.float32) -> Any:
    return SimpleNamespace(device=torch.device(device), config=config, dtype=dtype)


def test_keys_and_values_stay_within_the_limit() -> None:
    tokens = capacity.tokens_at_once(on("cpu"))
    assert tokens * A_TOKEN <= capacity.CPU_BYTES < (tokens + 1) * A_TOKEN
    half = capacity.tokens_at_once(on("cpu", dtype=torch.bfloat16))
    assert half == pytest.approx(2 * tokens, abs=1)
    ungrouped = capacity.tokens_at_once(on("cpu", GPT2Config(n_embd=576, n_layer=30, n_head=9)))
    assert ungrouped == pytest.approx(tokens / 3, abs=1)


def test_a_model_too_large_for_a_batch_reads_a_prompt_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (0, 10**9))
    assert capacity.tokens_at_once(on("cuda")) == 1
