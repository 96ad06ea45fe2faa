"""A batch of texts that a language model reads on, each at its own pace.

The keys and values of the prompts' common beginning are shared, those of the rest live in buffers
that are allocated once: transformers' DynamicCache copies all of them for each new token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

from ras_flow.support.extras import require

if TYPE_CHECKING:
    import torch

    Prefix = list[tuple[torch.Tensor, torch.Tensor]]
    """For each layer: keys and values, each of shape (1, heads, tokens, head size)."""


WITHOUT_ATTENTION = ("falcon_mamba", "mamba", "mamba2", "xlstm")
"""Types of models whose states are not keys and values, though transformers 5.24 names them so."""


class Choice(NamedTuple):
    """The next token of a text.

    Attributes:
        token: The likeliest one.
        other: The second likeliest.
        lead: By how much the first one's logit is above the second one's.
    """

    token: int
    other: int
    lead: float


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
    """What a model has read of some texts.

    Args:
        model: A causal language model of transformers, in evaluation mode.
        prefix: Keys and values of what comes before every prompt; None for nothing.
        prompts: Token ids, at least one a prompt; or, for all of them, the tokens' embeddings, of
            shape (tokens, width).
        room: Tokens that each text may go on by.
    """

    def __init__(
        self,
        model: Any,
        prefix: Prefix | None,
        prompts: Sequence[Sequence[int] | torch.Tensor],
        room: int,
    ) -> None:
        torch = require("torch", extra="local")
        transformers = require("transformers", extra="local")
        self._model, self._prompts = model, prompts
        shared = prefix[0][0].shape[2] if prefix else 0
        longest = max(map(len, prompts))
        self._new = {"dtype": torch.long, "device": model.device}
        self._states = transformers.DynamicCache(config=model.config)
        self._states_name = states_name(model)
        self._places = _Places()
        capacity, make = shared + longest + room, _buffered_layer()
        self._states.layers = [make(capacity, self._places) for _ in self._states.layers]
        for layer, (keys, values) in zip(self._states.layers, prefix or (), strict=False):
            every = (len(prompts), -1, -1, -1)
            layer.update(keys.expand(every), values.expand(every))
        # Left padding, between the common beginning and each prompt.
        self._mask = torch.tensor(
            [[1] * shared + [0] * (longest - len(p)) + [1] * len(p) for p in prompts], **self._new
        )
        self._shared = shared
        self._filled = torch.full((len(prompts),), shared + longest, **self._new)
        self._read = self._mask.sum(1)

    def begin(self) -> list[list[Choice]]:
        """Read the prompts; return for each its next token, as a list of one."""
        torch = require("torch", extra="local")
        longest = max(map(len, self._prompts))
        if isinstance(self._prompts[0], torch.Tensor):
            padded = [
                torch.nn.functional.pad(p, (0, 0, longest - len(p), 0)) for p in self._prompts
            ]
            given = {"inputs_embeds": torch.stack(padded)}
        else:
            ids = [[0] * (longest - len(p)) + list(p) for p in self._prompts]
            given = {"input_ids": torch.tensor(ids, **self._new)}
        places = (self._mask.cumsum(1) - 1).clamp(min=0)[:, self._shared :]
        return self._choices(1, attention_mask=self._mask, position_ids=places, **given)

    def read(self, blocks: Sequence[Sequence[int]]) -> list[list[Choice]]:
        """Read on, without saying yet how much of it is to be kept."""
        torch = require("torch", extra="local")
        width = max(map(len, blocks))
        ids = torch.tensor([[*block, *[0] * (width - len(block))] for block in blocks], **self._new)
        lengths = torch.tensor([len(block) for block in blocks], **self._new)
        offsets = torch.arange(width, device=ids.device)
        places = self._places
        places.rows = torch.arange(len(blocks), device=ids.device)[:, None]
        places.columns = self._filled[:, None] + offsets
        places.end = int(places.columns.max()) + 1
        return self._choices(
            width,
            input_ids=ids,
            attention_mask=self._seen(places.columns, places.end),
            # Padding is not counted: some models have no position beyond their last token's.
            position_ids=self._read[:, None] + offsets.minimum(lengths[:, None] - 1),
        )

    def keep(self, counts: Sequence[int]) -> None:
        """Keep so many tokens of each text's last block, and forget the others."""
        torch = require("torch", extra="local")
        kept = torch.tensor(list(counts), **self._new)
        self._filled += kept
        self._read += kept

    def drop_all_but(self, rows: Sequence[int]) -> None:
        """Leave out texts that have ended."""
        torch = require("torch", extra="local")
        kept = torch.tensor(list(rows), **self._new)
        self._states.batch_select_indices(kept)
        self._mask, self._filled = self._mask[kept], self._filled[kept]
        self._read = self._read[kept]

    def _choices(self, width: int, **given: Any) -> list[list[Choice]]:
        given[self._states_name] = self._states
        logits = self._model(**given, logits_to_keep=width).logits
        values, tokens = logits[:, -width:].topk(2)
        leads = (values[..., 0] - values[..., 1]).tolist()
        return [
            [Choice(one, other, lead) for (one, other), lead in zip(*text, strict=True)]
            for text in zip(tokens.tolist(), leads, strict=True)
        ]

    def _seen(self, columns: torch.Tensor, end: int) -> Any:
        """Return what is added to attention: zero for a token and what is before it.

        Shape (texts, 1, tokens, columns of the buffers).
        """
        torch = require("torch", extra="local")
        seen = torch.arange(end, device=columns.device) <= columns[..., None]
        seen[..., : self._mask.shape[1]] &= self._mask[:, None].bool()
        dtype = self._model.dtype
        added = torch.zeros(seen.shape, dtype=dtype, device=seen.device)
        added.masked_fill_(~seen, torch.finfo(dtype).min)
        return added[:, None]


@cache
def _buffered_layer() -> Any:
    """Return a DynamicLayer class that writes into a buffer of fixed capacity."""
    plain = require("transformers.cache_utils", extra="local").DynamicLayer

    class BufferedLayer(plain):  # type: ignore[misc, valid-type]
        def __init__(self, capacity: int, places: _Places) -> None:
            super().__init__()
            self.capacity, self.places = capacity, places

        def lazy_initialization(self, keys: torch.Tensor, values: torch.Tensor) -> None:
            super().lazy_initialization(keys, values)
            self.key_buffer = _buffer(keys, self.capacity)
            self.value_buffer = _buffer(values, self.capacity)
            self.keys, self.values = self.key_buffer[:, :, :0], self.value_buffer[:, :, :0]

        def update(
            self, keys: torch.Tensor, values: torch.Tensor, *args: Any, **kwargs: Any
        ) -> tuple[torch.Tensor, torch.Tensor]:
            if not self.is_initialized:
                self.lazy_initialization(keys, values)
            at = self.places
            if at.rows is None:
                start, end = self.keys.shape[2], self.keys.shape[2] + keys.shape[2]
                self.key_buffer[:, :, start:end] = keys
                self.value_buffer[:, :, start:end] = values
            else:
                end = at.end
                self.key_buffer[at.rows, :, at.columns] = keys.transpose(1, 2)
                self.value_buffer[at.rows, :, at.columns] = values.transpose(1, 2)
            self.keys, self.values = self.key_buffer[:, :, :end], self.value_buffer[:, :, :end]
            return self.keys, self.values

        def batch_select_indices(self, indices: torch.Tensor) -> None:
            self.key_buffer = self.key_buffer[indices]
            self.value_buffer = self.value_buffer[indices]
            end = self.keys.shape[2]
            self.keys, self.values = self.key_buffer[:, :, :end], self.value_buffer[:, :, :end]

    return BufferedLayer


def _buffer(like: torch.Tensor, capacity: int) -> torch.Tensor:
    # Zeros: texts that are shorter than others have gaps, which are masked but must be numbers.
    return like.new_zeros(like.shape[0], like.shape[1], capacity, like.shape[3])
