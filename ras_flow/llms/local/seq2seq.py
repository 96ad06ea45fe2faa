"""An encoder-decoder model (Flan-T5 and its kind) that runs in this process."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from ras_flow.llms.local.generation import as_plain_text, cut_at, end_tokens, memory_errors_say
from ras_flow.llms.local.joining import Limits, Outcome, PromptCall, serve_together
from ras_flow.llms.local.model import LocalLanguageModel, load_model
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.llms.local.tuned import find_tuned
from ras_flow.llms.local.weights import SMOLLM2, load_error
from ras_flow.parts.records import Generation
from ras_flow.support.extras import require
from ras_flow.support.paths import path_named

WINDOW = 512
"""Input tokens (appendix D.1)."""

_TOKENS = (
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "decoder_start_token_id",
    "forced_bos_token_id",
)
"""The settings of generation that say how a model's texts begin and end."""


def is_seq2seq(name: str) -> bool:
    """Tell from its configuration whether a model is an encoder-decoder."""
    if name == SMOLLM2:
        return False
    tuned = find_tuned(name)
    if tuned:
        return tuned.kind == "seq2seq"
    file = path_named(name) / "config.json"
    try:
        if file.parent.is_dir():
            config = json.loads(file.read_text(encoding="utf-8"))
            if not isinstance(config, dict):
                raise ValueError("config.json is no JSON object")
            return config.get("is_encoder_decoder") is True
        transformers = require("transformers", extra="local")
        config = transformers.AutoConfig.from_pretrained(name, trust_remote_code=False)
        return bool(config.is_encoder_decoder)
    except (OSError, ValueError) as error:
        raise load_error(name, error) from error


class LocalSeq2SeqModel(LocalLanguageModel):
    """A sequence-to-sequence model of transformers, run greedily.

    It knows no chat: it reads the texts of a prompt's messages, one after the other.
    """

    _chats = False

    def __init__(self, name: str, *, window: int = WINDOW, batch_size: int = 16) -> None:
        super().__init__(name, window=window, batch_size=batch_size)

    @cached_property
    def window(self) -> int:
        """Input tokens to offer to callers."""
        return self._window

    def _serve(
        self, calls: Sequence[PromptCall], given_up: threading.Event
    ) -> dict[PromptCall, Outcome]:
        tokenizer = load_tokenizer(self.name, chat=False)

        def encode(call: PromptCall) -> list[tuple[int, ...]]:
            texts = ["\n\n".join(m["content"] for m in prompt) for prompt in call.items]
            return [tuple(tokenizer.encode(as_plain_text(text, tokenizer))) for text in texts]

        def make(prompts: list[tuple[int, ...]]) -> list[Generation]:
            order = sorted(range(len(prompts)), key=lambda row: len(prompts[row]))
            made: dict[int, Generation] = {}
            for start in range(0, len(order), self.batch_size):
                if given_up.is_set():
                    break
                rows = order[start : start + self.batch_size]
                batch = [prompts[row] for row in rows]
                made |= zip(rows, self._decode(batch, calls[0].limits, given_up), strict=True)
            return [made.get(row, Generation("")) for row in range(len(prompts))]

        with memory_errors_say(
            f"Memory ran out in the local model {self.name!r}. Lower its batch_size (now "
            f"{self.batch_size})."
        ):
            return serve_together(calls, encode, make)

    def _decode(
        self, batch: Sequence[tuple[int, ...]], limits: Limits, given_up: threading.Event
    ) -> list[Generation]:
        torch = require("torch", extra="local")
        kind = "AutoModelForSeq2SeqLM"
        loaded = load_model(self.name, self._key, kind=kind, precision=self._precision)
        model = loaded.model
        # What generate is not told it takes from the model's own settings.
        model.generation_config = _greedy(model.generation_config)
        tokenizer = load_tokenizer(self.name, chat=False)
        longest = max(map(len, batch))
        pad = tokenizer.pad_token_id or 0
        ids = torch.tensor([[*row, *[pad] * (longest - len(row))] for row in batch])
        mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in batch])
        with torch.inference_mode():
            outputs = model.generate(
                input_ids=ids.to(model.device),
                attention_mask=mask.to(model.device),
                max_new_tokens=limits.max_new_tokens,
                stopping_criteria=[
                    lambda made, _: torch.full((len(made),), given_up.is_set(), device=made.device)
                ],
            )
        ends = end_tokens(model, tokenizer)
        return [
            _generation(tokenizer, len(row), output, ends, limits.stop)
            for row, output in zip(batch, outputs[:, 1:].tolist(), strict=True)
        ]


def _greedy(settings: Any) -> Any:
    """Return a model's own settings of generation without all that changes what it writes.

    A token that it forces at the limit is left out too: it would hide that a text is cut off.
    """
    transformers = require("transformers", extra="local")
    kept = {name: getattr(settings, name) for name in _TOKENS}
    return transformers.GenerationConfig(**kept)


def _generation(
    tokenizer: Any, read: int, written: list[int], ends: set[int], stop: Sequence[str]
) -> Generation:
    end = next((at for at, token in enumerate(written) if token in ends), None)
    tokens = written if end is None else written[: end + 1]
    text = str(tokenizer.decode(tokens, skip_special_tokens=True))
    cut = cut_at(text, stop)
    return Generation(
        text=text[:cut],
        input_tokens=read,
        output_tokens=len(tokens),
        truncated=cut is None and end is None,
    )
