"""An encoder-decoder model (Flan-T5 and its kind) that runs in this process."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property

from ras_flow.llms.local.generation import Encoded, as_plain_text
from ras_flow.llms.local.model import LocalLanguageModel
from ras_flow.llms.local.tokenizer import load_tokenizer
from ras_flow.llms.local.tuned import find_tuned
from ras_flow.llms.local.weights import SMOLLM2, load_error
from ras_flow.parts.records import Message
from ras_flow.support.extras import require
from ras_flow.support.paths import path_named

WINDOW = 512
"""Input tokens (appendix D.1)."""


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
                raise ValueError("config.json must be a JSON object")
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
    _kind = "AutoModelForSeq2SeqLM"

    def __init__(self, name: str, *, window: int = WINDOW, batch_size: int = 16) -> None:
        super().__init__(name, window=window, batch_size=batch_size)

    @cached_property
    def window(self) -> int:
        """Input tokens to offer to callers."""
        return self._window

    def _encode(self, prompt: Sequence[Message], *, share: bool) -> Encoded:
        tokenizer = load_tokenizer(self.name, chat=False)
        text = "\n\n".join(message["content"] for message in prompt)
        ids = tuple(tokenizer.encode(as_plain_text(text, tokenizer)))
        return Encoded((), ids, words=ids)
