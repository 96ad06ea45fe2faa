"""Language models by name: local ones, and chat models of any provider through LangChain.

Importing this package does not import LangChain or transformers; names are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ras_flow.support.lazy import load_on_use

if TYPE_CHECKING:
    from ras_flow.llms.loading import load_language_model as load_language_model
    from ras_flow.llms.local.model import LocalLanguageModel as LocalLanguageModel
    from ras_flow.llms.local.seq2seq import LocalSeq2SeqModel as LocalSeq2SeqModel
    from ras_flow.llms.remote.chat import ChatLanguageModel as ChatLanguageModel
    from ras_flow.llms.remote.served import ServedLanguageModel as ServedLanguageModel

_HOMES = {
    "ChatLanguageModel": "remote.chat",
    "LocalLanguageModel": "local.model",
    "LocalSeq2SeqModel": "local.seq2seq",
    "ServedLanguageModel": "remote.served",
    "load_language_model": "loading",
}

__all__ = list(_HOMES)

__getattr__ = load_on_use(__name__, _HOMES)
