"""Greedy decoding of a batch whose prompts begin alike.

The keys and values of the common beginning are computed once and shared, several tokens are written
at once where they could be guessed, and sequences that have ended leave the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn.functional import pad
from transformers import DynamicCache, GenerationConfig
from transformers.cache_utils import DynamicLayer

from ras_flow.llms.local.attention import without_copies
from ras_flow.llms.local.batch import Batch, Prefix, states_name
from ras_flow.llms.local.capacity import step_at_once
from ras_flow.llms.local.text import Lookup

LONGEST_GUESS = 6
"""Tokens of a guess: about a name."""

BY_COLUMN = ("bloom", "gpt_neo", "mpt")
"""Types of models that measure distance in columns of the cache, so that a gap changes it."""


def can_share(model: Any) -> bool:
    """Tell whether all layers of a model use plain attention, whose cache can be shared."""
    config = model.config.get_text_config()
    by_column = config.model_type in BY_COLUMN or getattr(config, "alibi", False)
    if by_column or config.is_encoder_decoder or not states_name(model):
        return False
    layers = DynamicCache(config=model.config).layers
    return bool(layers) and all(type(layer) is DynamicLayer for layer in layers)


def read_prefix(model: Any, tokens: Sequence[int]) -> Prefix:
    """Compute the keys and values of a common beginning."""
    states: Any = DynamicCache(config=model.config)
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
    words: Sequence[Sequence[int]],
) -> list[list[int]]:
    """Continue each prompt with its most likely tokens.

    ``prefix`` has the keys and values of what comes before every prompt, for models for which
    :func:`can_share` holds. Prompts are token ids, or embeddings of shape (tokens, width).
    ``has_ended`` is called after each new token with the prompt's position and its new tokens.
    ``words`` are token ids that an output is likely to copy: they change how soon it is written,
    not what.
    """
    if not can_share(model):
        return _by_transformers(model, prompts, max_new_tokens, has_ended)
    texts: list[list[int]] = [[] for _ in prompts]
    lookups = [Lookup(text) for text in words]
    rows = list(range(len(prompts)))
    live = set(rows)

    def write(row: int, guess: Sequence[int], read: Sequence[int]) -> int:
        """Write the next token, and as many after it as the guess had right."""
        if row not in live:
            return 0
        tokens, before = texts[row], len(texts[row])
        for token, guessed in zip(read, [*guess, None], strict=False):
            tokens.append(token)
            lookups[row].extend([token])
            if has_ended(row, tokens) or len(tokens) == max_new_tokens:
                live.discard(row)
                break
            if token != guessed:
                break
        return len(tokens) - before

    def block(row: int, most: int) -> list[int]:
        """Return the last token with a guess at what follows."""
        most = min(most, LONGEST_GUESS, max_new_tokens - len(texts[row]) - 1)
        return [texts[row][-1], *(lookups[row].guess(most) if row in live else ())]

    step = step_at_once(model)
    with torch.inference_mode():
        batch = Batch(model, prefix, prompts, room=max_new_tokens + LONGEST_GUESS + 1)
        for row, token in zip(rows, batch.begin(), strict=True):
            write(row, (), token)
        with without_copies(model):
            while live:
                if 4 * len(live) <= 3 * len(rows):
                    batch.drop_all_but([at for at, row in enumerate(rows) if row in live])
                    rows = [row for row in rows if row in live]
                most = max(0, step // len(rows) - 1)
                blocks = [block(row, most) for row in rows]
                read = zip(rows, blocks, batch.read(blocks), strict=True)
                batch.keep([write(row, given[1:], tokens) for row, given, tokens in read])
    return texts


def _by_transformers(
    model: Any,
    prompts: Sequence[Any],
    max_new_tokens: int,
    has_ended: Callable[[int, list[int]], bool],
) -> list[list[int]]:
    """Continue prompts by ``generate``, for models whose cache cannot be shared."""
    embedded, encoded = isinstance(prompts[0], torch.Tensor), model.config.is_encoder_decoder
    longest = max(map(len, prompts))

    def padded(row: torch.Tensor) -> torch.Tensor:
        missing = longest - len(row)
        sides = (0, missing) if encoded else (missing, 0)
        return pad(row, (0, 0, *sides) if row.dim() == 2 else sides)

    rows = torch.stack([padded(torch.as_tensor(prompt)) for prompt in prompts]).to(model.device)
    seen = [padded(torch.ones(len(prompt), dtype=torch.long)) for prompt in prompts]
    # Where new tokens begin: generate repeats ids that it was given, but not embeddings.
    start = 1 if encoded else 0 if embedded else longest
    ends: dict[int, int] = {}

    def ended(written: Any, _: object) -> Any:
        for row, tokens in enumerate(written[:, start:].tolist()):
            if row not in ends and has_ended(row, tokens):
                ends[row] = len(tokens)
        return torch.tensor([row in ends for row in range(len(written))], device=written.device)

    # What generate is not told it takes from the model's own settings, such as sampling.
    own = model.generation_config
    kept = ("bos_token_id", "decoder_start_token_id", "forced_bos_token_id")
    model.generation_config = GenerationConfig(**{name: getattr(own, name) for name in kept})
    try:
        with torch.inference_mode():
            written = model.generate(
                **{"inputs_embeds" if embedded else "input_ids": rows},
                attention_mask=torch.stack(seen).to(model.device),
                max_new_tokens=max_new_tokens,
                stopping_criteria=[ended],
            )
    finally:
        model.generation_config = own
    return [tokens[: ends.get(row)] for row, tokens in enumerate(written[:, start:].tolist())]
