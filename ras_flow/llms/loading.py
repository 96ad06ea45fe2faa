"""A language model by its name."""

from __future__ import annotations

from typing import Unpack

from ras_flow.llms.local.model import LocalLanguageModel
from ras_flow.llms.local.seq2seq import LocalSeq2SeqModel, is_seq2seq
from ras_flow.llms.local.weights import SMOLLM2
from ras_flow.llms.remote.chat import ChatLanguageModel
from ras_flow.llms.remote.providers import ServerSettings
from ras_flow.llms.remote.served import ServedLanguageModel
from ras_flow.parts.protocols import LanguageModel


def load_language_model(
    name: str, *, window: int | None = None, **server: Unpack[ServerSettings]
) -> LanguageModel:
    """Return the language model of a name; weights are loaded on first use."""
    kind, _, rest = name.partition(":")
    if kind == "local":
        model = SMOLLM2 if rest in ("", "default") else rest
        return LocalSeq2SeqModel(model) if is_seq2seq(model) else LocalLanguageModel(model)
    if kind == "vllm" and rest:
        return ServedLanguageModel(rest, **server)
    return ChatLanguageModel(name, window=window, **server)
