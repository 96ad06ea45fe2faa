"""Prompts in, texts out, over any causal language model of transformers in this process."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ras_flow.errors import ConfigurationError, ModelResponseError, RasFlowError
from ras_flow.llms.local import capacity
from ras_flow.llms.local.text import repeats
from ras_flow.parts.records import Generation

if TYPE_CHECKING:
    import torch

    from ras_flow.llms.local.batch import Prefix

_NO_MEMORY = ("out of memory", "not enough memory", "allocate memory")


PREFIXES_KEPT = 8
"""Prompt beginnings whose keys and values a loaded model keeps (a role needs one or two)."""


@dataclass
class LoadedModel:
    """A model in memory, in evaluation mode, shared by everything in this process that names it.

    Its ``key`` is the fingerprint of its weights, empty where nothing else shares it; its
    ``prefixes`` are keys and values by token ids, least recently used first.
    """

    model: Any
    key: str = ""
    prefixes: OrderedDict[tuple[int, ...], Prefix] = field(default_factory=OrderedDict)

    @property
    def shares(self) -> bool:
        """Whether prompts can share the keys and values of their beginning."""
        return bool(_decoding().can_share(self.model))

    def prefix(self, tokens: tuple[int, ...]) -> Prefix:
        """Return the keys and values of a prompt's beginning, computed on first use."""
        if tokens not in self.prefixes:
            self.prefixes[tokens] = _decoding().read_prefix(self.model, tokens)
        self.prefixes.move_to_end(tokens)
        while len(self.prefixes) > PREFIXES_KEPT:
            self.prefixes.popitem(last=False)
        return self.prefixes[tokens]


@dataclass(frozen=True)
class Encoded:
    """A prompt's tokens: what it shares with others of its role, and the rest.

    Attributes:
        prefix: Token ids; empty where nothing is shared.
        rest: Token ids, or embeddings of shape (tokens, width).
        words: Token ids of the rest; negative ones for soft tokens.
    """

    prefix: tuple[int, ...]
    rest: Sequence[int] | torch.Tensor
    words: Sequence[int]

    def __len__(self) -> int:
        return len(self.prefix) + len(self.rest)


def generate(
    loaded: LoadedModel,
    tokenizer: Any,
    prompts: Sequence[Encoded],
    *,
    name: str,
    batch_size: int,
    max_new_tokens: int,
    stop: Sequence[str] = (),
    given_up: threading.Event | None = None,
) -> list[Generation]:
    """Continue each prompt greedily; a text that only repeats itself ends there."""
    check_lengths(loaded.model, prompts, max_new_tokens, name)
    ends = end_tokens(loaded.model, tokenizer)

    text_of = partial(decoded, tokenizer)

    def has_ended(_: int, tokens: list[int]) -> bool:
        if (given_up and given_up.is_set()) or tokens[-1] in ends or repeats(tokens):
            return True
        return bool(stop) and cut_at(text_of(tokens), stop) is not None

    made: dict[int, Generation] = {}
    size = capacity.rows_at_once(loaded.model, batch_size)
    tokens_at_once = capacity.tokens_at_once(loaded.model)
    for batch in _batches(prompts, size, max_new_tokens, tokens_at_once):
        if given_up and given_up.is_set():
            break
        prefix = prompts[batch[0]].prefix
        outputs = _decoding().greedy(
            loaded.model,
            loaded.prefix(prefix) if prefix else None,
            [prompts[row].rest for row in batch],
            max_new_tokens=max_new_tokens,
            has_ended=has_ended,
            words=[prompts[row].words for row in batch],
        )
        for row, tokens in zip(batch, outputs, strict=True):
            text = text_of(tokens)
            cut = cut_at(text, stop)
            made[row] = Generation(
                text=text[:cut],
                input_tokens=len(prompts[row]),
                output_tokens=len(tokens),
                truncated=cut is None and len(tokens) == max_new_tokens and tokens[-1] not in ends,
            )
    return [made.get(row, Generation("")) for row in range(len(prompts))]


def _decoding() -> Any:
    """Return the module that decodes, which imports torch."""
    return import_module("ras_flow.llms.local.decoding")


def decoded(tokenizer: Any, tokens: Sequence[int]) -> str:
    """Return the text of tokens, without special ones."""
    return str(
        tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    )


def is_memory_error(error: Exception) -> bool:
    """Tell whether an error says that memory ran out; torch raises it under several names."""
    said = str(error).lower()
    return isinstance(error, MemoryError) or any(words in said for words in _NO_MEMORY)


@contextmanager
def memory_errors_say(what_to_do: str) -> Iterator[None]:
    """Raise a ConfigurationError with this message where memory runs out."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RasFlowError) or not is_memory_error(error):
            raise
        raise ConfigurationError(what_to_do) from error


def check_lengths(model: Any, prompts: Sequence[Encoded], new: int, name: str) -> None:
    """Refuse prompts that exceed a model's positions."""
    limit = getattr(model.config.get_text_config(), "max_position_embeddings", None)
    longest = max(map(len, prompts), default=0)
    # An encoder and a decoder each have positions of their own.
    needed = max(longest, new) if model.config.is_encoder_decoder else longest + new
    if limit is not None and needed > limit:
        raise ModelResponseError(
            f"A prompt of {longest} tokens and {new} new ones exceed the {limit} "
            f"that the local model {name!r} can read. Shorten the prompt."
        )


def as_plain_text(text: str, tokenizer: Any) -> str:
    """Break special tokens that a text spells out: only the chat template may place them."""
    for token in _controls(tokenizer):
        text = text.replace(token, f"{token[0]} {token[1:]}")
    return text


@lru_cache(maxsize=8)
def _controls(tokenizer: Any) -> list[str]:
    """Return a tokenizer's special tokens, and what else its chat template has of added tokens.

    DeepSeek's tokens of turns and those of thoughts are not marked as special.
    """
    template = str(getattr(tokenizer, "chat_template", None))
    return [
        token.content
        for token in tokenizer.added_tokens_decoder.values()
        if token.special or (token.content[0] in "<[" and token.content in template)
    ]


_ONE_DAY = "{% macro strftime_now(format) %}26 Jul 2024{% endmacro %}"
"""Precedes a template and hides the clock; Llama's template falls back to this day."""


def chat_text(tokenizer: Any, messages: Sequence[Mapping[str, object]], *, ask: bool = True) -> str:
    """Write messages by a tokenizer's chat template, the same on every day.

    Some templates tell the model the date: prompts would differ from those in training, and
    measurements could not be repeated.
    """
    written: str = tokenizer.apply_chat_template(
        messages,
        chat_template=_ONE_DAY + tokenizer.get_chat_template(),
        tokenize=False,
        add_generation_prompt=ask,
        enable_thinking=False,
    )
    return written


def end_tokens(model: Any, tokenizer: Any) -> set[int]:
    """Return the tokens that end an answer, as the model's own settings name them."""
    configured = model.generation_config.eos_token_id
    ends = configured if isinstance(configured, list) else [configured]
    return {token for token in [*ends, tokenizer.eos_token_id] if token is not None}


def _batches(
    prompts: Sequence[Encoded], size: int, new: int, tokens_at_once: int
) -> list[list[int]]:
    """Group the positions of prompts with the same beginning, similar lengths together."""
    groups: dict[tuple[int, ...], list[list[int]]] = {}
    for row in sorted(range(len(prompts)), key=lambda row: len(prompts[row])):
        group = groups.setdefault(prompts[row].prefix, [[]])
        room = tokens_at_once // (len(prompts[row]) + new)
        if len(group[-1]) >= max(1, min(size, room)):
            group.append([])
        group[-1].append(row)
    return [batch for group in groups.values() for batch in group]


def cut_at(text: str, stop: Sequence[str]) -> int | None:
    """Return where the first stop string begins."""
    found = [at for string in stop if (at := text.find(string)) >= 0]
    return min(found, default=None)
