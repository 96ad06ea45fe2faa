"""A headless Chromium, and pages in it that are watched for what must never happen."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright, expect

from ras_flow.runs.document import RunDocument
from tests.page.canned import TOKEN, CannedServer
from tests.page.documents import big, bridge, hostile, paused, two_branches

_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]


@dataclass
class Watch:
    """What a page did that it must not do."""

    origin: str
    dialogs: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def attach(self, page: Page) -> None:
        """Listen to a page."""

        async def refuse(dialog: Any) -> None:
            self.dialogs.append(dialog.message)
            await dialog.dismiss()

        def check(request: Any) -> None:
            if not request.url.startswith((self.origin, "data:image/svg+xml,", "blob:")):
                self.strangers.append(request.url)

        page.on("dialog", refuse)
        page.on("request", check)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on(
            "console",
            lambda message: message.type == "error" and self.errors.append(message.text),
        )


expect.set_options(timeout=20_000)  # a busy machine is no error of the page

OpenPage = Callable[..., Awaitable[Page]]


@cache
def _documents() -> list[RunDocument]:
    return [two_branches(), paused(), hostile(), big()]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with launched() as started:
        yield started


@asynccontextmanager
async def launched() -> AsyncIterator[Browser]:
    """Start the machine's Chromium; without one, Playwright's own."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
    async with async_playwright() as playwright:
        started = await playwright.chromium.launch(executable_path=found, args=_ARGUMENTS)
        yield started
        await started.close()


@pytest_asyncio.fixture(loop_scope="module")
async def server() -> AsyncIterator[CannedServer]:
    canned = CannedServer(_documents())
    async with canned.running():
        yield canned


@pytest_asyncio.fixture(loop_scope="module")
async def open_page(browser: Browser, server: CannedServer) -> AsyncIterator[OpenPage]:
    """Opens the page at a fragment; in the end, no page may have done anything strange.

    Errors that a test means to cause are named by ``errors``: parts of their messages.
    """
    opened: list[tuple[Page, Watch, tuple[str, ...]]] = []

    async def open(fragment: str = "", *, errors: tuple[str, ...] = (), **options: Any) -> Page:
        address = options.pop("address", f"{server.address}/")
        token = f"token={TOKEN}&" if address.startswith(server.address) else ""
        options = {"viewport": {"width": 1400, "height": 850}} | options
        context = await browser.new_context(**options)
        context.set_default_timeout(20_000)
        page = await context.new_page()
        watch = Watch(address)
        watch.attach(page)
        opened.append((page, watch, errors))
        await page.goto(f"{address}#{token}{fragment}")
        return page

    yield open
    for page, watch, expected in opened:
        hacked = await page.evaluate("window.hacked")
        await page.context.close()
        assert hacked is None
        assert watch.dialogs == []
        assert watch.strangers == []
        assert [e for e in watch.errors if not any(part in e for part in expected)] == []


@pytest.fixture
def one_branch(server: CannedServer) -> CannedServer:
    """The run before it was forked; a fork's answer makes the second branch."""
    server.documents["a71c0ffee001"] = bridge().document()
    server.then = two_branches()
    server.stream = [
        {"type": "plan", "hop": 2, "label": "SUBQ", "subquery": "On which <b>river</b>?"},
        None,
        {"type": "answer", "answer": "The Glåma", "stop_reason": "sufficient", "citations": []},
        {"type": "done", "branch": 2},
    ]
    return server
