"""The page on this machine alone: loopback only, with a token in its link."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import FrameType
from urllib.parse import urlencode

import uvicorn
from starlette.requests import Request

from ras_flow.errors import ConfigurationError
from ras_flow.page.access import bearer_token, known_host
from ras_flow.page.app import create_app
from ras_flow.page.choices import OfferChoices, local_choices
from ras_flow.runs.runs import Runs

HOST = "127.0.0.1"


async def serve_page(
    runs: Runs,
    *,
    choices: OfferChoices = local_choices,
    ready: Callable[[str], None],
    stopped: Callable[[str], None] = lambda run: None,
    run: str | None = None,
    branch: int | None = None,
    port: int = 0,
) -> None:
    """Serve the page until the process is interrupted, or the task cancelled."""
    try:
        listener = socket.create_server((HOST, port))
    except (OSError, OverflowError) as error:
        raise ConfigurationError(
            f"Port {port} cannot be used ({error}). Choose another one with --port, or leave that "
            "out for any free one."
        ) from error
    with listener:
        port = listener.getsockname()[1]
        token = secrets.token_urlsafe(32)

        @asynccontextmanager
        async def open_runs(_: Request) -> AsyncIterator[Runs]:
            # A page is open for long: what is wrong must not wait for the end of the runs.
            with runs.told():
                yield runs

        names = [HOST, "localhost", "[::1]"]
        hosts = [f"{name}:{port}" for name in names]
        if port == 80:  # Browsers leave it out.
            hosts += names
        app = create_app(
            open_runs,
            choices,
            guards=[known_host(hosts)],
            api_guards=[bearer_token(token)],
            # The page's token is not the key of a server that the runs are on.
            refused=403,
            stopped=stopped,
        )
        config = uvicorn.Config(
            app,
            log_level="critical",
            access_log=False,
            server_header=False,
            ws="none",
            # Without it the runs at work would not be stopped before their database is closed.
            lifespan="on",
            # A stream that is being watched must not hold up the end.
            timeout_graceful_shutdown=0,
        )
        first = {"token": token, "run": run, "branch": branch}
        fragment = urlencode({name: value for name, value in first.items() if value is not None})
        link = f"http://{HOST}:{port}/#{fragment}"
        server = _Server(config, lambda: ready(link))
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        try:
            await asyncio.shield(serving)
        except asyncio.CancelledError:
            server.should_exit = True
            await serving
            raise


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._tell_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        # A second Ctrl-C would leave the runs at work as they are, and end in a traceback.
        if not self.should_exit:
            super().handle_exit(sig, frame)
