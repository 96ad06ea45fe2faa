"""Units of work for the workers of the tests."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

from ras_flow.cluster import workers
from ras_flow.errors import DocumentError


async def pid() -> int:
    return os.getpid()


async def after(seconds: float, value: int) -> int:
    await asyncio.sleep(seconds)
    return value


async def refuse(text: str) -> None:
    raise DocumentError(text)


async def divide(number: int) -> float:
    return 1 / number


async def die(attempts: str) -> None:
    """Note the attempt, and kill the worker."""
    with Path(attempts).open("a") as file:
        file.write("x")
    os.kill(os.getpid(), signal.SIGKILL)


async def pretend(version: str) -> None:
    """Have the worker take itself for another version of the package."""
    workers.version = lambda name: version  # type: ignore[assignment]
