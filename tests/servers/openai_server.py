"""OpenAI's chat completions format: POST {url}/chat/completions, plain and streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.servers.scripted import Answer, ScriptedServer


class OpenAIServer(ScriptedServer):
    @property
    def url(self) -> str:
        return f"{self.address}/v1"

    def whole(self, body: dict[str, Any], answer: Answer) -> dict[str, Any]:
        message = {"role": "assistant", "content": answer.text, "refusal": None}
        message |= answer.reasoning
        end = "length" if answer.at_limit else "stop"
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1700000000,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": end, "logprobs": None}],
            "usage": _usage(answer),
        }

    def events(self, body: dict[str, Any], answer: Answer) -> Iterator[str]:
        def chunk(delta: dict[str, Any], end: str | None = None) -> str:
            choices = [{"index": 0, "delta": delta, "finish_reason": end, "logprobs": None}]
            return _event(_chunk(body) | {"choices": choices})

        yield chunk({"role": "assistant", "content": ""})
        for name, text in answer.reasoning.items():
            for word in text.split():
                yield chunk({name: word})
        for number, word in enumerate(answer.text.split(" ")):
            yield chunk({"content": f" {word}" if number else word})
        yield chunk({}, "length" if answer.at_limit else "stop")
        if (body.get("stream_options") or {}).get("include_usage"):
            yield _event(_chunk(body) | {"choices": [], "usage": _usage(answer)})
        yield "data: [DONE]\n\n"

    def failure(self, answer: Answer) -> dict[str, Any]:
        kind = "invalid_request_error" if answer.status in (400, 404, 422) else "server_error"
        return {"error": {"message": answer.error, "type": kind, "param": None, "code": None}}


def _chunk(body: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": body["model"],
    }


def _usage(answer: Answer) -> dict[str, int]:
    return {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.input_tokens + answer.output_tokens,
    }


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data)}\n\n"
