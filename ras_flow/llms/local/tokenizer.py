"""Tokenizers of models, loaded once per process."""

from __future__ import annotations

import threading
from typing import Any

from ras_flow.errors import ConfigurationError
from ras_flow.llms.local.tuned import find_tuned
from ras_flow.llms.local.weights import check_words, load_error, resolve
from ras_flow.support.extras import require

_loading = threading.Lock()
_tokenizers: dict[str, Any] = {}


def load_tokenizer(name: str, *, chat: bool = True) -> Any:
    """Return a model's tokenizer, loaded once per process."""
    tuned = find_tuned(name)
    if tuned and tuned.adapter:
        return load_tokenizer(tuned.base, chat=chat)
    with _loading:
        if name not in _tokenizers:
            transformers = require("transformers", extra="local")
            source = resolve(name)
            try:
                tokenizer = transformers.AutoTokenizer.from_pretrained(
                    source, trust_remote_code=False
                )
            except Exception as error:
                # For a file that it cannot read, the tokenizers package raises a plain Exception.
                if type(error) is Exception or isinstance(error, OSError | ValueError):
                    raise load_error(name, error) from error
                raise
            check_words(name, tokenizer)
            _tokenizers[name] = tokenizer
        if chat and not _tokenizers[name].chat_template:
            raise ConfigurationError(
                f"The model {name!r} has no chat template. Name an instruction-tuned model."
            )
        return _tokenizers[name]


def forget_tokenizer(name: str) -> None:
    """Let a tokenizer be loaded again, from the files that are there now."""
    with _loading:
        _tokenizers.pop(name, None)
