"""Anthropic's Messages format: POST {url}/v1/messages, plain and streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.servers.scripted import Answer, ScriptedServer

_TYPES = {
    200: "overloaded_error",
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    529: "overloaded_error",
}


class AnthropicServer(ScriptedServer):
    @property
    def url(self) -> str:
        return self.address

    def whole(self, body: dict[str, Any], answer: Answer) -> dict[str, Any]:
        return _message(body) | {
            "content": [{"type": "text", "text": answer.text}],
            "stop_reason": _end(answer),
            "usage": {
                "input_tokens": answer.input_tokens,
                "output_tokens": answer.output_tokens,
            },
        }

    def events(self, body: dict[str, Any], answer: Answer) -> Iterator[str]:
        usage = {"input_tokens": answer.input_tokens, "output_tokens": 1}
        yield _event("message_start", message=_message(body) | {"usage": usage})
        yield _event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        for number, word in enumerate(answer.text.split(" ")):
            delta = {"type": "text_delta", "text": f" {word}" if number else word}
            yield _event("content_block_delta", index=0, delta=delta)
        yield _event("content_block_stop", index=0)
        yield _event(
            "message_delta",
            delta={"stop_reason": _end(answer), "stop_sequence": None},
            usage={"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens},
        )
        yield _event("message_stop")

    def failure(self, answer: Answer) -> dict[str, Any]:
        kind = _TYPES.get(answer.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": answer.error}}


def _message(body: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _end(answer: Answer) -> str:
    return "max_tokens" if answer.at_limit else "end_turn"


def _event(kind: str, **data: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | data)}\n\n"
