"""OpenAI's chat interface as compatible servers speak it: with the reasoning beside the text.

LangChain's own class drops what is not OpenAI's, and asks for a subclass that keeps it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import langchain_openai
from langchain_core.outputs import ChatGenerationChunk, ChatResult

REASONING = "reasoning_content"
"""Where a message has it, as in LangChain's classes of single providers."""


class ChatOpenAI(langchain_openai.ChatOpenAI):
    """A chat model that keeps the reasoning of a reply without text, and of every streamed part."""

    def _create_chat_result(self, response: Any, *more: Any) -> ChatResult:
        result = super()._create_chat_result(response, *more)
        message = result.generations[0].message if result.generations else None
        if message and not message.content:
            said = getattr(response.choices[0].message, "model_extra", None) or {}
            message.additional_kwargs |= _reasoning(said)
        return result

    def _convert_chunk_to_generation_chunk(
        self, chunk: Any, *more: Any
    ) -> ChatGenerationChunk | None:
        made = super()._convert_chunk_to_generation_chunk(chunk, *more)
        if made and (choices := chunk.get("choices")):
            made.message.additional_kwargs |= _reasoning(choices[0].get("delta") or {})
        return made


def _reasoning(said: Mapping[str, Any]) -> dict[str, str]:
    # vLLM and OpenRouter write "reasoning", others still the name that DeepSeek gave it.
    found = said.get("reasoning_content") or said.get("reasoning")
    return {REASONING: found} if isinstance(found, str) else {}
