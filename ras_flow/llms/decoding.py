"""Greedy decoding of a batch whose prompts begin alike.

The keys and values of the common beginning are computed once and shared, those of the rest live
in buffers that are allocated once (transformers' DynamicCache copies all of them for each new
token), and sequences that have ended leave the batch. On one core, against ``generate()``, 5
prompts of 550 tokens with 400 in common start 3 times sooner; steps take 10 % less time with 5
sequences and 20 % less with 16.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ras_flow.extras import require

if TYPE_CHECKING:
    import torch

    Prefix = list[tuple[torch.Tensor, torch.Tensor]]
    """For each layer: keys and values, each of shape (1, heads, tokens, head size)."""


LOOP = 64
"""Tokens that a repeated block must fill before a text counts as repeating itself.

A triple is written in some 16 tokens, and small models go on after two or three copies of one.
"""

LONGEST_BLOCK = 128
"""Tokens of the longest block that is looked for: a few triples."""


def can_share(model: Any) -> bool:
    """Tell whether all layers of a model use plain attention, whose cache can be shared."""
    transformers = require("transformers", extra="local")
    plain = require("transformers.cache_utils", extra="local").DynamicLayer
    layers = transformers.DynamicCache(config=model.config).layers
    return bool(layers) and all(type(layer) is plain for layer in layers)


def read_prefix(model: Any, tokens: Sequence[int]) -> Prefix:
    """Compute the keys and values of a common beginning.

    Args:
        model: A causal language model of transformers for which :func:`can_share` holds.
        tokens: Token ids, at least one.

    Returns:
        Keys and values, one pair a layer.
    """
    torch = require("torch", extra="local")
    transformers = require("transformers", extra="local")
    states = transformers.DynamicCache(config=model.config)
    with torch.inference_mode():
        model(
            input_ids=torch.tensor([list(tokens)], device=model.device),
            past_key_values=states,
            logits_to_keep=1,
        )
    return [(layer.keys, layer.values) for layer in states.layers]


def greedy(
    model: Any,
    prefix: Prefix | None,
    prompts: Sequence[Sequence[int] | torch.Tensor],
    *,
    max_new_tokens: int,
    has_ended: Callable[[int, list[int]], bool],
) -> list[list[int]]:
    """Continue each prompt with its most likely tokens.

    Args:
        model: A causal language model of transformers, in evaluation mode.
        prefix: Keys and values of what comes before every prompt; None for nothing, and for
            models for which :func:`can_share` does not hold.
        prompts: Token ids, at least one a prompt; or, for all of them, the tokens' embeddings, of
            shape (tokens, width).
        max_new_tokens: Limit for each output.
        has_ended: Called after each new token with the prompt's position and all its new tokens;
            True ends that sequence.

    Returns:
        The new tokens of each prompt, including the one that ended it.
    """
    torch = require("torch", extra="local")
    transformers = require("transformers", extra="local")
    shared = prefix[0][0].shape[2] if prefix else 0
    longest = max(map(len, prompts))
    in_buffers = can_share(model)
    states = transformers.DynamicCache(config=model.config)
    if in_buffers:
        capacity = shared + longest + max_new_tokens
        states.layers = [_buffered_layer()(capacity) for _ in states.layers]
    for layer, (keys, values) in zip(states.layers, prefix or (), strict=False):
        layer.update(keys.expand(len(prompts), -1, -1, -1), values.expand(len(prompts), -1, -1, -1))
    new = {"dtype": torch.long, "device": model.device}
    # Left padding, between the common beginning and each prompt.
    if isinstance(prompts[0], torch.Tensor):
        padded = [torch.nn.functional.pad(p, (0, 0, longest - len(p), 0)) for p in prompts]
        given = {"inputs_embeds": torch.stack(padded)}
    else:
        ids = [[0] * (longest - len(p)) + list(p) for p in prompts]
        given = {"input_ids": torch.tensor(ids, **new)}
    mask = torch.tensor(
        [[1] * shared + [0] * (longest - len(p)) + [1] * len(p) for p in prompts], **new
    )
    places = (mask.cumsum(1) - 1).clamp(min=0)[:, shared:]
    outputs: list[list[int]] = [[] for _ in prompts]
    rows = list(range(len(prompts)))
    live = set(rows)
    with torch.inference_mode():
        for _ in range(max_new_tokens):
            logits = model(
                **given,
                attention_mask=mask,
                position_ids=places,
                past_key_values=states,
                logits_to_keep=1,
            ).logits
            tokens = logits[:, -1:].argmax(-1)
            for row, token in zip(rows, tokens[:, 0].tolist(), strict=True):
                if row in live:
                    outputs[row].append(token)
                    if has_ended(row, outputs[row]):
                        live.discard(row)
            if not live:
                break
            if in_buffers and 4 * len(live) <= 3 * len(rows):
                keep = torch.tensor([i for i, row in enumerate(rows) if row in live], **new)
                states.batch_select_indices(keep)
                tokens, mask, places = tokens[keep], mask[keep], places[keep]
                rows = [row for row in rows if row in live]
            given = {"input_ids": tokens}
            mask = torch.cat([mask, mask.new_ones(len(rows), 1)], dim=1)
            places = places[:, -1:] + 1
    return outputs


def repeats(tokens: Sequence[int]) -> bool:
    """Tell whether a text only repeats itself, as greedy decoding of small models may do for ever.

    Args:
        tokens: A text's token ids so far.

    Returns:
        Whether its last :data:`LOOP` tokens or more are one block, at least twice in a row.
    """
    end = len(tokens)
    for size in range(1, min(LONGEST_BLOCK, end // 2) + 1):
        span = max(2 * size, -(-LOOP // size) * size)
        if span > end or tokens[-1] != tokens[-1 - size]:
            continue
        if list(tokens[end - span : end - size]) == list(tokens[end - span + size :]):
            return True
    return False


@cache
def _buffered_layer() -> Any:
    """Return a DynamicLayer class that writes into a buffer of fixed capacity."""
    plain = require("transformers.cache_utils", extra="local").DynamicLayer

    class BufferedLayer(plain):  # type: ignore[misc, valid-type]
        def __init__(self, capacity: int) -> None:
            super().__init__()
            self.capacity = capacity

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
            start, end = self.keys.shape[2], self.keys.shape[2] + keys.shape[2]
            self.key_buffer[:, :, start:end] = keys
            self.value_buffer[:, :, start:end] = values
            self.keys, self.values = self.key_buffer[:, :, :end], self.value_buffer[:, :, :end]
            return self.keys, self.values

        def batch_select_indices(self, indices: torch.Tensor) -> None:
            keys, values = self.keys[indices], self.values[indices]
            self.lazy_initialization(keys, values)
            self.update(keys, values)

    return BufferedLayer


def _buffer(like: torch.Tensor, capacity: int) -> torch.Tensor:
    return like.new_empty(like.shape[0], like.shape[1], capacity, like.shape[3])
