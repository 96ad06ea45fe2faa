"""vLLM's completions format: POST {url}/completions; an answer's text is its token ids."""

from __future__ import annotations

from typing import Any

from tests.servers.openai_server import OpenAIServer
from tests.servers.scripted import Answer


class CompletionsServer(OpenAIServer):
    def whole(self, body: dict[str, Any], answer: Answer) -> dict[str, Any]:
        tokens = [int(token) for token in answer.text.split()]
        end = "length" if answer.at_limit else "stop"
        return {
            "id": "cmpl-1",
            "object": "text_completion",
            "created": 1700000000,
            "model": body["model"],
            "choices": [{"index": 0, "text": "", "token_ids": tokens, "finish_reason": end}],
            "usage": {"prompt_tokens": answer.input_tokens, "completion_tokens": len(tokens)},
        }
