"""MiniLM on transformers alone, since importing sentence-transformers takes a second."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from transformers import AutoModel, AutoTokenizer

LONGEST = 256
"""Tokens that are read of a text, as sentence-transformers does."""


class MiniLM:
    """A sentence's vector is the mean of its tokens', normalised."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        model = AutoModel.from_pretrained(folder, use_safetensors=True, dtype=torch.float32)
        self._model = model.to(_device()).eval()

    @torch.inference_mode()
    def encode(self, texts: list[str], *, batch_size: int, **_: object) -> npt.NDArray[np.float32]:
        """Encode texts, those of similar length together."""
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
        vectors = torch.empty(len(texts), self._model.config.hidden_size)
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            given = self.tokenizer(
                [texts[row] for row in rows],
                padding=True,
                truncation=True,
                max_length=LONGEST,
                return_tensors="pt",
            ).to(self._model.device)
            read = given["attention_mask"].unsqueeze(-1)
            means = (self._model(**given).last_hidden_state * read).sum(1) / read.sum(1)
            vectors[rows] = torch.nn.functional.normalize(means).cpu()
        found: npt.NDArray[np.float32] = vectors.numpy()
        return found


def _device() -> str:
    """Return the best device; the threads of a process that trains do not know its GPU."""
    if torch.cuda.is_available():
        return f"cuda:{int(os.environ.get('LOCAL_RANK', 0)) % torch.cuda.device_count()}"
    return "mps" if torch.backends.mps.is_available() else "cpu"
