"""The page as `ras-flow runs view` serves it, on a real socket."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from ras_flow.page.local import serve_page


@dataclass(frozen=True)
class Page:
    """A page that is being served, and a client that has its token."""

    link: str
    client: httpx.AsyncClient

    @property
    def base(self) -> str:
        return self.link.partition("#")[0]

    @property
    def token(self) -> str:
        return parse_qs(urlsplit(self.link).fragment)["token"][0]

    async def get(self, path: str, **options: Any) -> Any:
        answer = await self.client.get(path, **options)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def events(self, path: str, body: dict[str, Any] | None = None) -> list[Any]:
        """All events of a streamed answer."""
        return [event async for event in self.stream(path, body)]

    async def stream(self, path: str, body: dict[str, Any] | None = None) -> AsyncIterator[Any]:
        method = "GET" if body is None else "POST"
        async with self.client.stream(method, path, json=body) as answer:
            assert answer.status_code == 200, await answer.aread()
            assert answer.headers["content-type"].startswith("text/event-stream")
            async for line in answer.aiter_lines():
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))


@asynccontextmanager
async def serving(runs: Any, **options: Any) -> AsyncIterator[Page]:
    """Serve runs for as long as the context is open."""
    link: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve_page(runs, ready=link.set_result, **options))
    try:
        await asyncio.wait({link, task}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
        async with httpx.AsyncClient(timeout=60) as client:
            page = Page(await link, client)
            client.base_url = httpx.URL(page.base)
            client.headers["Authorization"] = f"Bearer {page.token}"
            yield page
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
