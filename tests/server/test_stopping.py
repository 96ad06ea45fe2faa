"""A server that is told to stop while somebody looks at its page."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import httpx
import pytest
from langgraph_sdk import get_client

from tests.server.dev import langgraph_dev

pytestmark = pytest.mark.slow


async def test_a_page_that_is_open_does_not_keep_the_server_from_stopping(tmp_path: Path) -> None:
    with langgraph_dev(tmp_path, tmp_path / "cache") as server:
        client = get_client(url=server.url, api_key=None)
        run = (await client.threads.create())["thread_id"]
        # A run that failed is followed on, since it can be resumed.
        await client.runs.wait(run, "ras", input={"question": " "}, raise_error=False)
        async with (
            httpx.AsyncClient(base_url=server.url, timeout=None) as page,
            page.stream("GET", f"/ras-flow/api/live/{run}") as live,
        ):
            lines = live.aiter_lines()
            assert "changed" in await anext(lines)
            server.process.send_signal(signal.SIGTERM)
            await asyncio.to_thread(server.process.wait, 45)
