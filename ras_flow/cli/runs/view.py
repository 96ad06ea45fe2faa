"""ras-flow runs view: the runs in a browser."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import webbrowser
from contextlib import suppress
from typing import Annotated, NoReturn

import typer

from ras_flow.cli.runs.options import Database, go_on_with
from ras_flow.support.extras import require


def view(
    run: Annotated[
        str | None,
        typer.Argument(
            metavar="RUN[/N]", help="The run to open, or its branch N; all if left out."
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the page; any free one if left out.")
    ] = 0,
    no_browser: Annotated[
        bool,
        typer.Option(
            "--no-browser",
            help="Only print the link. On a shared machine, others may see an opened link in the "
            "list of processes.",
        ),
    ] = False,
    database: Database = None,
) -> None:
    """Open a page to step through runs, edit and fork them; only this machine can reach it."""
    from ras_flow.runs.address import find_address
    from ras_flow.runs.databases.opening import is_server, open_runs_at
    from ras_flow.runs.reading import get_branch

    for module in ("starlette", "uvicorn"):
        require(module, extra="page")
    from ras_flow.page.choices import local_choices, remote_choices
    from ras_flow.page.local import serve_page

    choices = remote_choices if is_server(database) else local_choices

    def ready(link: str) -> None:
        typer.echo(f"The page is at {link}\nAnyone with this link can open it. Stop with Ctrl-C.")
        if not no_browser:
            # Some browsers return only when they are closed.
            asyncio.get_running_loop().run_in_executor(None, webbrowser.open, link)

    def stopped(run: str) -> None:
        typer.echo(f"ras-flow: interrupted. {go_on_with(run)}", err=True)

    async def serve() -> NoReturn:
        with suppress(asyncio.CancelledError):
            async with open_runs_at(database) as runs:
                name, branch = await find_address(runs, run) if run else (None, None)
                if name and branch is not None:
                    get_branch(await runs.document(name), branch)
                elif name:
                    await runs.newest(name)
                try:
                    await serve_page(
                        runs,
                        choices=choices,
                        ready=ready,
                        stopped=stopped,
                        run=name,
                        branch=branch,
                        port=port,
                    )
                finally:
                    # Only the database is left to be closed; another Ctrl-C need not wait for it.
                    signal.signal(signal.SIGINT, lambda *_: _end_at_once())
        _end_at_once()

    asyncio.run(serve())


def _end_at_once() -> NoReturn:
    """End the process without waiting for its threads.

    A local model in the middle of a step cannot be stopped, and takes half a minute for some. All
    that is to be kept is stored by then.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(0)
