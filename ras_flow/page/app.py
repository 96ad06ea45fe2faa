"""The page as an ASGI application: its files, and the API beneath ``api/``."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from ras_flow.errors import AuthenticationError, RasFlowError, RunError, UnknownRunError
from ras_flow.page import STATIC
from ras_flow.page.access import SecureHeaders, own_origin
from ras_flow.page.api import Api, OpenRuns, Streaming
from ras_flow.page.choices import OfferChoices
from ras_flow.page.work import Work

_log = logging.getLogger(__name__)


def _event_stream(lines: AsyncIterator[bytes]) -> Response:
    return StreamingResponse(lines, media_type="text/event-stream")


def create_app(
    open_runs: OpenRuns,
    choices: OfferChoices,
    *,
    guards: Sequence[Middleware] = (),
    api_guards: Sequence[Middleware] = (),
    refused: int = 401,
    stopped: Callable[[str], None] = lambda run: None,
    streaming: Streaming = _event_stream,
) -> Starlette:
    """Make the page's application."""
    work = Work()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        yield
        for run in await work.stop():
            stopped(run)

    api = Starlette(
        routes=Api(open_runs, choices, work, streaming).routes(),
        middleware=[Middleware(SecureHeaders, cache="no-store"), own_origin(), *api_guards],
        exception_handlers={
            RasFlowError: _error_answer(400),
            RunError: _error_answer(500),
            UnknownRunError: _error_answer(404),
            AuthenticationError: _error_answer(refused),
            HTTPException: _http_error,
            500: _internal_error,
        },
    )
    return Starlette(
        routes=[Mount("/api", api), Mount("/", _PageFiles(directory=STATIC, html=True))],
        middleware=[Middleware(SecureHeaders, cache="no-cache"), *guards],
        lifespan=lifespan,
    )


class _PageFiles(StaticFiles):
    def file_response(self, full_path: Any, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(full_path, *args, **kwargs)
        # What the operating system takes for a script's type may be none that a browser runs.
        if Path(full_path).suffix == ".js":
            response.headers["content-type"] = "text/javascript; charset=utf-8"
        return response


def _error_answer(status: int) -> Callable[[Request, Exception], Response]:
    def tell(_: Request, error: Exception) -> Response:
        return JSONResponse({"error": str(error)}, status_code=status)

    return tell


async def _http_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


async def _internal_error(request: Request, error: Exception) -> Response:
    # Uvicorn's own log is silent, also where a stream ends like this.
    _log.error("The page's API failed at %s", request.url.path, exc_info=error)
    message = "This failed in a way that nobody expected; the server's log has the details."
    return JSONResponse({"error": message}, status_code=500)
