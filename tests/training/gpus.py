"""A machine with several GPUs, as far as transformers sees it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import pytest
from transformers import TrainingArguments


def several_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have transformers count three GPUs; it still computes on what is there."""
    real = TrainingArguments.__dict__["_setup_devices"]

    def setup(self: Any) -> Any:
        device = real.func(self)
        self._n_gpu = 3
        return device

    made = cached_property(setup)
    made.__set_name__(TrainingArguments, "_setup_devices")
    monkeypatch.setattr(TrainingArguments, "_setup_devices", made)
