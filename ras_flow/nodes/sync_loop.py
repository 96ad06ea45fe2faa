"""The event loop of sync callers: one for the process.

Clients of model servers work only in the event loop that they were first used in, and calls are
bounded and shared within a loop. So the calls of all threads are made in one, which stays.
"""

from __future__ import annotations

import asyncio
import atexit
import os
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import ContextVar, copy_context
from threading import Lock, Thread
from typing import Any, TypeVar

T = TypeVar("T")

CLOSING = 2.0
"""Seconds that connections may take to close when the process ends."""

_within = ContextVar("_within", default=False)
_lock = Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Wait for a coroutine in a thread that may have an event loop at work, as in a notebook."""
    if _within.get():
        # A part that asks another graph may hold up the loop or its threads meanwhile.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(copy_context().run, asyncio.run, work).result()
    future = asyncio.run_coroutine_threadsafe(_marked(work), _loop())
    try:
        return future.result()
    finally:
        future.cancel()


async def _marked(work: Coroutine[Any, Any, T]) -> T:
    _within.set(True)
    return await work


def _loop() -> asyncio.AbstractEventLoop:
    """Return the loop of this process: a fork of one that has a loop has no thread of it."""
    with _lock:
        if os.getpid() not in _loops:
            loop = _loops[os.getpid()] = asyncio.new_event_loop()
            Thread(target=_serve, args=[loop], name="ras-flow-sync", daemon=True).start()
            atexit.register(_close, os.getpid())
        return _loops[os.getpid()]


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    while True:
        # A part that exits the program exits the thread that waits for it: others wait for theirs.
        with suppress(KeyboardInterrupt, SystemExit):
            loop.run_forever()


def _close(process: int) -> None:
    """End what closes connections at a loop's end."""
    if process == os.getpid():
        loop = _loops[process]
        wait([asyncio.run_coroutine_threadsafe(loop.shutdown_asyncgens(), loop)], CLOSING)
