"""Chat models by name against local servers that speak the providers' wire formats."""

from __future__ import annotations

import pytest

from ras_flow.llms import ChatLanguageModel, load_language_model
from ras_flow.parts import Message
from tests.servers import Answer, AnthropicServer, OpenAIServer, ScriptedServer

KEY = "sk-secret-0123456789"
PROMPT: list[Message] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Capital of France?"},
]
STOP = ["\nQuestion:"]
KINDS = {
    "anthropic": (AnthropicServer, "anthropic:claude-haiku-4-5"),
    "openai": (OpenAIServer, "openai:gpt-4.1-mini"),
}
both = pytest.mark.parametrize("kind", KINDS)


def serve(kind: str, *script: Answer) -> ScriptedServer:
    return KINDS[kind][0](script)


def client(kind: str, server: ScriptedServer, **settings: object) -> ChatLanguageModel:
    model = load_language_model(KINDS[kind][1], base_url=server.url, **settings)  # type: ignore[arg-type]
    assert isinstance(model, ChatLanguageModel)
    return model
