"""Local HTTP servers that speak the wire formats of model providers, with scripted answers."""

from tests.servers.anthropic_server import AnthropicServer
from tests.servers.openai_server import OpenAIServer
from tests.servers.scripted import Answer, ScriptedServer

__all__ = ["Answer", "AnthropicServer", "OpenAIServer", "ScriptedServer"]
