"""Greedy decoding of a batch whose prompts begin alike.

The keys and values of the common beginning are computed once and shared, several tokens are written
at once where they could be guessed, and sequences that have ended leave the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ras_flow.extras import require
from ras_flow.llms.attention import without_copies
from ras_flow.llms.batch import Batch
from ras_flow.llms.capacity import step_at_once
from ras_flow.llms.lookup import Lookup

if TYPE_CHECKING:
    import torch

    from ras_flow.llms.batch import Prefix

LONGEST_GUESS = 6
"""Tokens of a guess: about a name."""

LOOP = 64
"""Tokens that a repeated block must fill before a text counts as repeating itself.

A triple is written in some 16 tokens, and small models go on after two or three copies of one.
"""

LONGEST_BLOCK = 128
"""Tokens of the longest block that is looked for: a few triples."""


BY_COLUMN = ("bloom", "gpt_neo", "mpt")
"""Types of models that measure distance in columns of the cache, so that a gap changes it."""


def can_share(model: Any) -> bool:
    """Tell whether all layers of a model use plain attention, whose cache can be shared."""
    transformers = require("transformers", extra="local")
    config = model.config.get_text_config()
    if config.model_type in BY_COLUMN or getattr(config, "alibi", False):
        return False
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
    words: Sequence[Sequence[int]] = (),
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
        words: For each prompt the token ids that its output is likely to copy. They change how
            soon it is written, not what.

    Returns:
        The new tokens of each prompt, including the one that ended it.
    """
    torch = require("torch", extra="local")
    outputs: list[list[int]] = [[] for _ in prompts]
    lookups = [Lookup(text) for text in words or [()] * len(prompts)]
    rows = list(range(len(prompts)))
    live = set(rows)

    def write(row: int, guess: Sequence[int], likeliest: Sequence[int]) -> int:
        """Write the next token, and as many after it as the guess had right."""
        if row not in live:
            return 0
        for count, token in enumerate(likeliest[: len(guess) + 1], 1):
            outputs[row].append(token)
            lookups[row].extend([token])
            if has_ended(row, outputs[row]) or len(outputs[row]) == max_new_tokens:
                live.discard(row)
                return count
            if count > len(guess) or guess[count - 1] != token:
                return count
        raise AssertionError("a text is read on by at least a token")

    def block(row: int, most: int) -> list[int]:
        """Return the last token with a guess at what follows."""
        most = min(most, LONGEST_GUESS, max_new_tokens - len(outputs[row]) - 1)
        return [outputs[row][-1], *(lookups[row].guess(most) if row in live else ())]

    plain = can_share(model)
    room = max_new_tokens + LONGEST_GUESS + 1 if plain else None
    step = step_at_once(model) if plain else 0
    with torch.inference_mode():
        batch = Batch(model, prefix, prompts, room)
        for row, likeliest in zip(rows, batch.begin(), strict=True):
            write(row, (), likeliest)
        with without_copies(model) if plain else nullcontext():
            while live:
                if plain and 4 * len(live) <= 3 * len(rows):
                    batch.drop_all_but([at for at, row in enumerate(rows) if row in live])
                    rows = [row for row in rows if row in live]
                most = max(0, step // len(rows) - 1)
                blocks = [block(row, most) for row in rows]
                read = zip(rows, blocks, batch.read(blocks), strict=True)
                batch.keep([write(row, tokens[1:], likeliest) for row, tokens, likeliest in read])
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
