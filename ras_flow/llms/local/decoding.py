"""Greedy decoding of a batch whose prompts begin alike.

The keys and values of the common beginning are computed once and shared, several tokens are written
at once where they could be guessed, and sequences that have ended leave the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from ras_flow.llms.local.attention import without_copies
from ras_flow.llms.local.batch import Batch, states_name
from ras_flow.llms.local.capacity import step_at_once
from ras_flow.llms.local.text import Text
from ras_flow.support.extras import require

if TYPE_CHECKING:
    import torch

    from ras_flow.llms.local.batch import Choice, Prefix

LONGEST_GUESS = 6
"""Tokens of a guess: about a name."""

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
    """Compute the keys and values of a common beginning."""
    torch = require("torch", extra="local")
    transformers = require("transformers", extra="local")
    states = transformers.DynamicCache(config=model.config)
    with torch.inference_mode():
        model(
            input_ids=torch.tensor([list(tokens)], device=model.device),
            logits_to_keep=1,
            **{states_name(model): states},
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
    turns: int = 0,
    begins_word: Callable[[Sequence[int], int], bool] = lambda *_: True,
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
        turns: How often an output that repeats itself may turn back and go on otherwise; see
            :class:`ras_flow.llms.local.text.Text`. Outputs of models for which :func:`can_share`
            does not hold never do.
        begins_word: Called with the beginning of such an output and a token: whether a word
            begins with that token there.
    """
    torch = require("torch", extra="local")
    plain = can_share(model)
    turns = turns if plain else 0
    texts = [Text(text, turns) for text in words or [()] * len(prompts)]
    rows = list(range(len(prompts)))
    live = set(rows)

    def write(row: int, guess: Sequence[int], choices: Sequence[Choice]) -> int:
        """Write the next token, and as many after it as the guess had right."""
        if row not in live:
            return 0
        text = texts[row]
        before = len(text.tokens)
        for choice, guessed in zip(choices, [*guess, None], strict=False):
            text.append(choice)
            turned = text.turn(begins_word)
            if has_ended(row, text.tokens) or len(text.tokens) == max_new_tokens:
                live.discard(row)
                break
            if turned or choice.token != guessed:
                break
        return len(text.tokens) - before

    def block(row: int, most: int) -> list[int]:
        """Return the last token with a guess at what follows."""
        tokens = texts[row].tokens
        most = min(most, LONGEST_GUESS, max_new_tokens - len(tokens) - 1)
        return [tokens[-1], *(texts[row].guess(most) if row in live else ())]

    room = max_new_tokens + LONGEST_GUESS + 1 if plain else None
    step = step_at_once(model) if plain else 0
    with torch.inference_mode():
        batch = Batch(model, prefix, prompts, room)
        for row, choices in zip(rows, batch.begin(), strict=True):
            write(row, (), choices)
        with without_copies(model) if plain else nullcontext():
            while live:
                if plain and 4 * len(live) <= 3 * len(rows):
                    batch.drop_all_but([at for at, row in enumerate(rows) if row in live])
                    rows = [row for row in rows if row in live]
                most = max(0, step // len(rows) - 1)
                blocks = [block(row, most) for row in rows]
                read = zip(rows, blocks, batch.read(blocks), strict=True)
                batch.keep([write(row, tokens[1:], choices) for row, tokens, choices in read])
    return [text.tokens for text in texts]
