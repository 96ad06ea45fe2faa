"""Stopping what a page has under way."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from ras_flow.page.work import JsonEvent, Work


async def test_work_that_is_stopped_has_ended_and_a_failure_of_it_stops_nothing() -> None:
    begun, ended = asyncio.Event(), []

    async def slow() -> AsyncGenerator[JsonEvent]:
        try:
            begun.set()
            await asyncio.Event().wait()
            yield {}
        finally:
            await asyncio.sleep(0.05)  # As a write to the database that is under way.
            ended.append("slow")

    async def broken() -> AsyncGenerator[JsonEvent]:
        try:
            await asyncio.Event().wait()
            yield {}
        finally:
            raise OSError("the disk is full")

    work = Work()
    work.begin("a", slow())
    work.begin("b", broken())
    await begun.wait()
    assert sorted(await work.stop()) == ["a", "b"]
    assert ended == ["slow"]
    assert not work.is_at_work("a") and not work.is_at_work("b")
