"""The page on a LangGraph server, next to the server's own routes.

``langgraph.json`` names ``app`` as ``http.app``. What the page asks for, it asks the server's own
API in process, with the headers of whoever asks: the deployment's authentication and its rules of
who may see which thread hold for the page as they do for any other client.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import httpx
from langgraph_sdk.client import LangGraphClient
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ras_flow.page.app import create_app
from ras_flow.page.choices import server_choices
from ras_flow.parts.chosen import Parts
from ras_flow.runs.databases.server import ServerThreads
from ras_flow.runs.runs import Runs
from ras_flow.support.extras import require

PATH = "/ras-flow"
"""Where the page is. Not ``/runs``: that is the server's own."""

_SERVER = "ras_flow.server"
"""Where a request's scope has the server's application."""

_OF_THE_MESSAGE = frozenset(
    b"accept accept-encoding connection content-encoding content-length content-type expect "
    b"if-match if-modified-since if-none-match if-range if-unmodified-since keep-alive range te "
    b"trailer transfer-encoding upgrade".split()
)
"""Headers that are about one message, not about who sends it."""


class OnServer:
    """Notes on which server a request came in."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        scope[_SERVER] = scope["app"]
        await self._app(scope, receive, send)


@asynccontextmanager
async def _open_runs(request: Request) -> AsyncIterator[Runs]:
    transports = require("langgraph_api.asgi_transport", extra="server")
    # The SDK's own in-process client would pass for the server itself, whoever asks.
    transport = transports.ASGITransport(
        request.scope[_SERVER],
        raise_app_exceptions=False,
        client=tuple(request.client or ("", 0)),
    )
    headers = [item for item in request.headers.raw if item[0] not in _OF_THE_MESSAGE]
    async with httpx.AsyncClient(
        base_url="http://server", transport=transport, headers=headers, timeout=None
    ) as http:
        yield Runs(ServerThreads(LangGraphClient(http), parts=Parts()))


def _until_shutdown(lines: AsyncIterator[bytes]) -> Response:
    """Stream as the server's own routes do: told to stop, it waits for streams that go on."""
    response: Response = require("sse_starlette", extra="server").EventSourceResponse(lines)
    return response


async def _to_page(request: Request) -> Response:
    # Relative, so that it holds behind a proxy and under the server's mount prefix.
    return RedirectResponse(PATH.rpartition("/")[2] + "/")


_page = create_app(_open_runs, server_choices, streaming=_until_shutdown)


@asynccontextmanager
async def _lifespan(_: Starlette) -> AsyncGenerator[None]:
    async with _page.router.lifespan_context(_page):
        yield


app = Starlette(
    routes=[Route(PATH, _to_page, include_in_schema=False), Mount(PATH, OnServer(_page))],
    lifespan=_lifespan,
)
"""What ``langgraph.json`` names: the server adds its own routes to it."""
