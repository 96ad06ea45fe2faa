"""Connections to chat servers that stay open between calls: one pool for a model and event loop.

Opening a connection for each call costs a handshake, and more computing than the call itself. A
pool works only in the event loop that it began in.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ras_flow.support.extras import require

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_CLIENTS = {"openai": "root_async_client", "anthropic": "_async_client"}
"""Where chat models of an interface have their async client."""


@dataclass(frozen=True)
class Pool:
    """What belongs to a chat model in one event loop.

    Attributes:
        fields: The clients, as fields for copies of the chat model; none to use its own.
        models: Such copies, by what else is changed in them.
        keeper: Closes the clients at the event loop's end.
    """

    fields: Mapping[str, Any]
    keeper: AsyncGenerator[None]
    models: dict[Hashable, BaseChatModel] = field(default_factory=dict)


class Pools:
    """Connections of one chat model of OpenAI's or Anthropic's interface."""

    def __init__(self, chat: BaseChatModel, *, by_name: bool) -> None:
        self._chat = chat
        self._by_name = by_name
        self._pools: dict[asyncio.AbstractEventLoop, Pool] = {}
        self._opening: dict[asyncio.AbstractEventLoop, asyncio.Lock] = {}

    async def here(self) -> Pool:
        """Return the running event loop's clients."""
        loop = asyncio.get_running_loop()
        if loop in self._pools:
            return self._pools[loop]
        async with self._opening.setdefault(loop, asyncio.Lock()):
            if loop not in self._pools:
                self._forget()
                # In a thread: it reads the certificates.
                http, fields = await asyncio.to_thread(_open, self._chat, self._by_name)
                keeper = _keep(http)
                await anext(keeper)
                self._pools[loop] = Pool(fields, keeper)
        return self._pools[loop]

    def _forget(self) -> None:
        """Let go of event loops that have ended: what was opened there holds them."""
        for known in (self._pools, self._opening):
            for loop in [loop for loop in list(known) if loop.is_closed()]:
                known.pop(loop, None)


async def _keep(http: Any) -> AsyncGenerator[None]:
    """Close a client at the event loop's end, which ends every generator that began there."""
    try:
        yield
    finally:
        if http is not None:
            await http.aclose()


def _open(chat: Any, by_name: bool) -> tuple[Any, dict[str, Any]]:
    kind = next((kind for kind in _CLIENTS if kind in chat._llm_type.split("-")), "")
    client = getattr(chat, _CLIENTS.get(kind, ""), None)
    if client is None or not (by_name or _is_as_made(chat, client)):
        return None, {}
    sdk = require(kind, extra=kind)
    proxy = getattr(chat, f"{kind}_proxy", None)
    opening = {"proxy": proxy} if proxy else {}
    if by_name:
        require("aiohttp", extra=kind)
        # Not the clients' own transport: it looks at every open connection for each call.
        http = sdk.DefaultAioHttpClient(**opening)
    else:
        http = sdk.DefaultAsyncHttpxClient(**opening)
    client = client.copy(http_client=http)
    if kind == "anthropic":
        return http, {"_async_client": client}
    completions = _plain(client) if by_name else client.chat.completions
    return http, {"root_async_client": client, "async_client": completions}


def _is_as_made(chat: Any, client: Any) -> bool:
    """Tell whether a chat model's async client is the one that its integration makes by itself."""
    if getattr(chat, "http_async_client", None):
        return False
    return not hasattr(chat, "async_client") or chat.async_client is client.chat.completions


def _plain(client: Any) -> Any:
    """Return a client's chat completions that send messages as they are.

    The SDK looks through every message for types to convert, of which LangChain's have none left;
    that takes longer than all else about a call.
    """
    from openai.resources.chat import AsyncCompletions  # noqa: PLC0415

    class Plain(AsyncCompletions):
        async def create(self, **request: Any) -> Any:
            body = {**(request.get("extra_body") or {}), "messages": request["messages"]}
            return await super().create(**{**request, "messages": [], "extra_body": body})

    return Plain(client)
