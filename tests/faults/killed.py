"""Brings some runs of a folder to their end: HOME URL FIRST END. It is killed at any moment."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ras_flow import open_runs
from tests.faults.world import builder, start_or_resume


async def main(home: str, url: str, first: str, end: str) -> None:
    async with open_runs(Path(home), builder=builder()) as runs:
        await asyncio.gather(*(start_or_resume(runs, n, url) for n in range(int(first), int(end))))


def run(arguments: list[str]) -> None:
    asyncio.run(main(*arguments))
