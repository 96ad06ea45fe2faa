"""Connections to model servers that stay open between calls, one pool for each event loop.

A pool works only in the event loop that it began in. A new connection for each call costs nearly
twice the computing: 11.9 ms against 6.4 (``benchmarks/results/concurrency.md``).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Hashable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakValueDictionary

from ras_flow.llms.remote.failures import Endpoint
from ras_flow.support.concurrency import PerLoop
from ras_flow.support.extras import require
from ras_flow.support.network import certificates, socks_proxies

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

T = TypeVar("T")

_CLIENTS = {"openai": "root_async_client", "anthropic": "_async_client"}
"""Where chat models of an interface have their async client."""


@dataclass
class _Open(Generic[T]):
    client: T
    http: Any
    """Closed with the event loop; None if the client is the caller's own."""
    closer: AsyncGenerator[None] | None = None


class LoopClients(Generic[T]):
    """A client for each event loop, closed when the loop ends."""

    def __init__(self, make: Callable[[], tuple[T, Any]]) -> None:
        self._of: PerLoop[_Open[T]] = PerLoop(lambda: _Open(*make()))

    async def current(self) -> T:
        """Return the running event loop's client."""
        if not certificates.cache_info().currsize:
            await asyncio.to_thread(certificates)
        made = self._of.current()
        if made.closer is None:
            made.closer = _close_at_end(made.http)
            await anext(made.closer)
        return made.client


async def _close_at_end(http: Any) -> AsyncGenerator[None]:
    """Close a client at the event loop's end, which ends every generator that began there."""
    try:
        yield
    finally:
        if http is not None:
            await http.aclose()


@dataclass(frozen=True)
class ChatClients:
    """What belongs to a chat model in one event loop.

    Attributes:
        fields: The clients, as fields for copies of the chat model; empty to use its own.
        models: Such copies, by what else is changed in them.
    """

    fields: Mapping[str, Any]
    models: dict[Hashable, BaseChatModel] = field(default_factory=dict)


def open_clients(chat: Any, *, by_name: bool) -> tuple[ChatClients, Any]:
    """Open a client of OpenAI's or Anthropic's interface, unless the caller chose one."""
    kind = next((kind for kind in _CLIENTS if kind in chat._llm_type.split("-")), "")
    client = getattr(chat, _CLIENTS.get(kind, ""), None)
    if client is None or not (by_name or _is_as_made(chat, client)):
        return ChatClients({}), None
    http = open_http(kind, proxy=getattr(chat, f"{kind}_proxy", None), aiohttp=by_name)
    client = client.copy(http_client=http)
    if kind == "anthropic":
        return ChatClients({"_async_client": client}), http
    completions = client.chat.completions
    return ChatClients({"root_async_client": client, "async_client": completions}), http


def open_http(kind: str, *, proxy: str | None = None, aiohttp: bool = True) -> Any:
    """Open the HTTP client of an SDK."""
    sdk = require(kind, extra=kind)
    settings: dict[str, Any] = {"verify": certificates()} | ({"proxy": proxy} if proxy else {})
    if not aiohttp or socks_proxies():  # aiohttp speaks no SOCKS.
        return sdk.DefaultAsyncHttpxClient(**settings)
    require("aiohttp", extra=kind)
    # Not httpx's transport: for each call it looks at every open connection.
    return sdk.DefaultAioHttpClient(**settings)


def _is_as_made(chat: Any, client: Any) -> bool:
    """Tell whether a chat model's async client is the one that its integration made."""
    if getattr(chat, "http_async_client", None):
        return False
    return not hasattr(chat, "async_client") or chat.async_client is client.chat.completions


Slots = PerLoop[asyncio.Semaphore]
"""The slots of each event loop."""

_lock = Lock()
_shared: WeakValueDictionary[tuple[str, str, int], Slots] = WeakValueDictionary()


def make_slots(most: int) -> Slots:
    """Make slots for one model alone."""
    return PerLoop(lambda: asyncio.Semaphore(most))


def shared_slots(endpoint: Endpoint, most: int) -> Slots:
    """Return the slots that all who name a model share."""
    with _lock:
        return _shared.setdefault((endpoint.model, endpoint.host, most), make_slots(most))
