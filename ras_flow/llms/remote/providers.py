"""LangChain chat models by ``provider:model`` name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict
from urllib.parse import urlsplit

from pydantic import SecretStr, ValidationError

from ras_flow.errors import ConfigurationError, MissingExtraError
from ras_flow.llms.remote.failures import Endpoint
from ras_flow.parts.records import Message
from ras_flow.support.extras import require
from ras_flow.support.network import check_network

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

EXAMPLES = (
    "'anthropic:claude-sonnet-4-5', 'openai:gpt-4.1-mini', 'local:default'; for an "
    "OpenAI-compatible server, 'openai:' with the server's model name, and base_url"
)

NO_KEY = "no-key-needed"
"""Sent to a server at a given address if no key is set: local servers need none."""


class ServerSettings(TypedDict, total=False):
    """How a model server is called; the others are their client's defaults."""

    base_url: str | None
    timeout: float
    max_retries: int
    max_concurrency: int


_ADDRESSES = {
    "anthropic": ("ANTHROPIC_API_URL", "ANTHROPIC_BASE_URL"),
    "openai": ("OPENAI_API_BASE", "OPENAI_BASE_URL"),
}
"""Providers whose clients are known here, with their environment variables for an address."""


def _addresses(kind: str) -> dict[str, str]:
    """Return the addresses in the environment, by variable; the first one counts."""
    names = _ADDRESSES.get(kind, ())
    return {name: url for name in names if (url := os.environ.get(name))}


def _key_variable(kind: str) -> str:
    return f"{kind.upper()}_API_KEY" if kind in _ADDRESSES else ""


def connect(name: str, base_url: str | None, *, timeout: float, max_retries: int) -> BaseChatModel:
    """Set up a chat model; nothing is sent yet."""
    from langchain.chat_models import init_chat_model  # noqa: PLC0415

    kind, _, model = name.partition(":")
    if not kind or not model:
        raise ConfigurationError(
            f"The model name {name!r} is not of the form provider:model. Examples: {EXAMPLES}."
        )
    settings: dict[str, Any] = {"timeout": timeout, "max_retries": max_retries}
    given = _addresses(kind)
    if base_url:
        given = {"base_url": base_url}
        settings |= given
    for setting, address in given.items():
        check_address(setting, address)
    if variable := _key_variable(kind):
        require(f"langchain_{kind}", extra=kind)
        check_network()
        for setting, address in given.items():
            if kind == "openai" and "@" in urlsplit(address).netloc:
                raise ConfigurationError(
                    f"The {setting} holds a user and a password, which OpenAI's client cannot send "
                    f"beside a key. Name the address without them, and set {variable}."
                )
        key = key_in(variable)
        if not key and not given:
            raise ConfigurationError(
                f"The model {name!r} needs a key. Set the environment variable "
                f"{variable}, or a base_url for a server without keys."
            )
        settings["api_key"] = key or NO_KEY
    make: Callable[..., BaseChatModel] = partial(init_chat_model, name)
    if kind == "openai":
        from ras_flow.llms.remote.openai_chat import ChatOpenAI  # noqa: PLC0415

        # LangChain counts no streamed tokens of servers other than OpenAI's own.
        make = partial(ChatOpenAI, model=model, stream_usage=True)
    try:
        chat = make(**settings)
        if (chat.profile or {}).get("temperature") is not False:
            chat = make(temperature=0, **settings)
    # LangChain looks for Ollama's class in langchain-community as well, which has it no longer.
    except (ImportError, AttributeError) as error:
        raise MissingExtraError(
            f"The provider {kind!r} needs a package that is not installed: {error}"
        ) from error
    except ValueError as error:
        raise ConfigurationError(
            f"The model {name!r} cannot be used: {_said(error)}. Examples of names: {EXAMPLES}."
        ) from error
    return chat


def key_in(variable: str) -> str:
    """Return a server's key, without the line end that mounted secrets have."""
    key = os.environ.get(variable, "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigurationError(
            f"The key in {variable} holds a character that a header cannot carry. Set it again, "
            "in printable ASCII."
        )
    return key


def check_address(name: str, address: str) -> None:
    """Refuse an address that HTTP clients choke on or misread."""
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or any(char.isspace() or not char.isprintable() for char in address):
        shown = repr(address) if "@" not in address else "(not shown: it may hold a password)"
        raise ConfigurationError(
            f"The {name} {shown} is not the address of a server. Write it like "
            "http://localhost:8000/v1, with http:// or https:// in front."
        )


def _said(error: ValueError) -> str:
    """Return an error's message; of pydantic's, which quote the settings, only what is wrong."""
    if isinstance(error, ValidationError):
        return "; ".join(fault["msg"] for fault in error.errors(include_input=False))
    return str(error).splitlines()[0].rstrip(".")


def schema_settings(chat: BaseChatModel, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what asks a chat model's server for JSON; nothing if its interface is unknown."""
    if schema is None:
        return {}
    asked = response_format(schema)
    if chat._llm_type.startswith("openai"):
        # As a plain argument it would go through a parser that fails if the output is cut.
        return {"extra_body": {**extra_body(chat), "response_format": asked}}
    return {"response_format": asked} if chat._llm_type.startswith("anthropic") else {}


def as_sent(chat: BaseChatModel, prompt: Sequence[Message]) -> list[tuple[str, Any]]:
    """Return a prompt as LangChain takes it.

    Anthropic keeps a prompt's beginning only where it is told to: all but the last message, which
    is the same for every question. Others find it by themselves.
    """
    messages: list[tuple[str, Any]] = [(one["role"], one["content"]) for one in prompt]
    if chat._llm_type.startswith("anthropic") and len(messages) > 1:
        role, text = messages[-2]
        kept = {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
        messages[-2] = (role, [kept])
    return messages


def response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field of a request that asks for JSON by a schema, in OpenAI's interfaces."""
    return {
        "type": "json_schema",
        "json_schema": {"name": "output", "schema": dict(schema), "strict": True},
    }


def extra_body(chat: BaseChatModel) -> dict[str, Any]:
    """Return what is added to the body of requests in OpenAI's interface."""
    return getattr(chat, "extra_body", None) or {}


def endpoint_of(chat: BaseChatModel) -> Endpoint:
    """Describe a chat model's server for error messages."""

    def first(*names: str) -> str:
        return next((value for name in names if (value := _text(chat, name))), "")

    kind = chat._llm_type.split("-")[0]
    # OpenAI's client reads one of these by itself.
    outside = iter(_addresses(kind).values())
    address = first("openai_api_base", "anthropic_api_url", "base_url") or next(outside, "")
    found = [v.get_secret_value() for v in vars(chat).values() if isinstance(v, SecretStr)]
    parts = urlsplit(address)
    path = parts.path.rstrip("/")
    return Endpoint(
        model=first("model_name", "model") or type(chat).__name__,
        host=parts.netloc.rpartition("@")[2] or f"{kind}'s own address",
        path="" if path == "/v1" else path,
        key_variable=_key_variable(kind),
        secrets=tuple(secret for secret in found if secret and secret != NO_KEY),
    )


def _text(chat: object, name: str) -> str:
    value = getattr(chat, name, None)
    return value if isinstance(value, str) else ""
