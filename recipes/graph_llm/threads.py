"""Long work in a thread that can be stopped."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from ras_flow.training.data.writer import Progress

T = TypeVar("T")


async def in_thread(
    work: Callable[..., T], *given: Any, progress: Progress | None, **more: Any
) -> T:
    """Work in a thread that stops at its next progress report once the caller is cancelled."""
    stopped = threading.Event()

    def tell(what: str, done: int, total: int) -> None:
        if stopped.is_set():
            raise _StoppedError
        if progress:
            progress(what, done, total)

    begun = asyncio.ensure_future(asyncio.to_thread(work, *given, progress=tell, **more))
    try:
        return await asyncio.shield(begun)
    except asyncio.CancelledError:
        stopped.set()
        with suppress(_StoppedError):
            await begun
        raise


class _StoppedError(Exception):
    """Nobody waits for the result any more."""
