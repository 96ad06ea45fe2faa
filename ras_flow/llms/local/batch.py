"""A batch of texts that a language model reads on, each at its own pace.

The keys and values of the prompts' common beginning are shared, those of the rest live in buffers
that are allocated once: transformers' DynamicCache copies all of them for each new token. Import
this module where weights are loaded already: it imports torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch
from torch.nn.functional import pad
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

Prefix = list[tuple[torch.Tensor, torch.Tensor]]
"""For each layer: keys and values, each of shape (1, heads, tokens, head size)."""

WITHOUT_ATTENTION = ("falcon_mamba", "mamba", "mamba2", "xlstm")
"""Types of models whose states are not keys and values, though transformers 5.24 names them so."""


def states_name(model: Any) -> str:
    """Return the argument that takes the keys and values of what a model has read, or ""."""
    if model.config.model_type in WITHOUT_ATTENTION:
        return ""
    taken = signature(model.forward).parameters
    return next((name for name in ("cache", "past_key_values") if name in taken), "")


@dataclass
class _Places:
    """Where the next keys and values go, in the buffers of all layers.

    Attributes:
        rows: Shape (texts, 1); None while the prompts are read, which end in the same column.
        columns: Shape (texts, tokens).
        end: The column after the last one.
    """

    rows: torch.Tensor | None = None
    columns: torch.Tensor | None = None
    end: int = 0


class Batch:
    """What a model has read of some texts, each of which may go on by ``room`` tokens.

    Prompts are token ids, at least one each, or embeddings of shape (tokens, width).
    """

    def __init__(
        self,
        model: Any,
        prefix: Prefix | None,
        prompts: Sequence[Any],
        room: int,
    ) -> None:
        self._model, self._prompts = model, prompts
        self._shared = prefix[0][0].shape[2] if prefix else 0
        longest = max(map(len, prompts))
        filled = self._shared + longest
        self._states: Any = DynamicCache(config=model.config)
        self._states_name = states_name(model)
        self._places = _Places()
        layers: list[Any] = [
            _BufferedLayer(filled + room, self._places) for _ in self._states.layers
        ]
        self._states.layers = layers
        for layer, (keys, values) in zip(layers, prefix or (), strict=False):
            every = (len(prompts), -1, -1, -1)
            layer.update(keys.expand(every), values.expand(every))
        # Left padding, between the common beginning and each prompt.
        self._mask = self._tensor(
            [[1] * self._shared + [0] * (longest - len(p)) + [1] * len(p) for p in prompts]
        )
        self._filled = self._tensor([filled] * len(prompts))
        self._read = self._mask.sum(1)

    def begin(self) -> list[list[int]]:
        """Read the prompts; return for each its next token, as a list of one."""
        longest = max(map(len, self._prompts))
        if isinstance(self._prompts[0], torch.Tensor):
            padded = [pad(p, (0, 0, longest - len(p), 0)) for p in self._prompts]
            given = {"inputs_embeds": torch.stack(padded)}
        else:
            ids = [[0] * (longest - len(p)) + list(p) for p in self._prompts]
            given = {"input_ids": self._tensor(ids)}
        places = (self._mask.cumsum(1) - 1).clamp(min=0)[:, self._shared :]
        return self._likeliest(1, attention_mask=self._mask, position_ids=places, **given)

    def read(self, blocks: Sequence[Sequence[int]]) -> list[list[int]]:
        """Read on, without saying yet how much of it is to be kept."""
        width = max(map(len, blocks))
        ids = self._tensor([[*block, *[0] * (width - len(block))] for block in blocks])
        lengths = self._tensor([len(block) for block in blocks])
        offsets = torch.arange(width, device=ids.device)
        columns = self._filled[:, None] + offsets
        self._places.rows = torch.arange(len(blocks), device=ids.device)[:, None]
        self._places.columns, self._places.end = columns, int(columns.max()) + 1
        return self._likeliest(
            width,
            input_ids=ids,
            attention_mask=self._seen(columns, self._places.end),
            # Padding is not counted: some models have no position beyond their last token's.
            position_ids=self._read[:, None] + offsets.minimum(lengths[:, None] - 1),
        )

    def keep(self, counts: Sequence[int]) -> None:
        """Keep so many tokens of each text's last block, and forget the others."""
        kept = self._tensor(list(counts))
        self._filled += kept
        self._read += kept

    def drop_all_but(self, rows: Sequence[int]) -> None:
        """Leave out texts that have ended."""
        kept = self._tensor(list(rows))
        self._states.batch_select_indices(kept)
        self._mask, self._filled = self._mask[kept], self._filled[kept]
        self._read = self._read[kept]

    def _tensor(self, numbers: list[Any]) -> torch.Tensor:
        return torch.tensor(numbers, dtype=torch.long, device=self._model.device)

    def _likeliest(self, width: int, **given: Any) -> list[list[int]]:
        given[self._states_name] = self._states
        logits = self._model(**given, logits_to_keep=width).logits
        tokens: list[list[int]] = logits[:, -width:].argmax(-1).tolist()
        return tokens

    def _seen(self, columns: torch.Tensor, end: int) -> torch.Tensor:
        """Return what is added to attention: zero for a token and what is before it.

        Shape (texts, 1, tokens, columns of the buffers).
        """
        seen = torch.arange(end, device=columns.device) <= columns[..., None]
        seen[..., : self._mask.shape[1]] &= self._mask[:, None].bool()
        added = torch.zeros(seen.shape, dtype=self._model.dtype, device=seen.device)
        return added.masked_fill_(~seen, torch.finfo(added.dtype).min)[:, None]


class _BufferedLayer(DynamicLayer):
    """Keys and values of a layer in buffers of fixed capacity."""

    def __init__(self, capacity: int, places: _Places) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.capacity, self.places, self.end = capacity, places, 0

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        super().lazy_initialization(key_states, value_states)
        # Zeros: shorter texts have gaps, which are masked but must be numbers.
        self.buffers = [
            new.new_zeros(*new.shape[:2], self.capacity, new.shape[3])
            for new in (key_states, value_states)
        ]
        self._show()

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        start, at = self.end, self.places
        self.end = start + key_states.shape[2] if at.rows is None else at.end
        for buffer, new in zip(self.buffers, (key_states, value_states), strict=True):
            if at.rows is None:
                buffer[:, :, start : self.end] = new
            else:
                buffer[at.rows, :, at.columns] = new.transpose(1, 2)
        return self._show()

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        self.buffers = [buffer[indices] for buffer in self.buffers]
        self._show()

    def _show(self) -> tuple[torch.Tensor, torch.Tensor]:
        keys, values = (buffer[:, :, : self.end] for buffer in self.buffers)
        self.keys, self.values = keys, values
        return keys, values
