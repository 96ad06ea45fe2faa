"""Back-pressure: how many model calls of this process may wait or be under way at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ras_flow.errors import OverloadedError
from ras_flow.settings.limits import limit

VARIABLE = "RAS_FLOW_MAX_CALLS"
"""Environment variable with the limit, which holds for the whole process."""

MOST = 4000
"""The limit by default: some hundred questions that each have some passages extracted."""

_lock = threading.Lock()
_taken = 0


def taken() -> int:
    """Return how many model calls wait or are under way in this process."""
    return _taken


@contextmanager
def call_slot() -> Iterator[None]:
    """Count a model call from here to the end of the block, however it ends."""
    global _taken
    most = most_calls()
    with _lock:
        if _taken >= most:
            raise OverloadedError(
                f"{_taken} model calls wait or are under way, and this process takes {most}. "
                "Nothing is lost: resume the run later, start fewer at once, or raise "
                f"{VARIABLE}."
            )
        _taken += 1
    try:
        yield
    finally:
        with _lock:
            _taken -= 1


def check_room() -> None:
    """Refuse new work while half of the places are taken: the rest is for runs under way."""
    most = most_calls()
    if 2 * _taken >= most:
        raise OverloadedError(
            f"This process is busy: {_taken} model calls wait or are under way, and with "
            f"{most // 2} no new question is taken. Try again later, or raise {VARIABLE} "
            f"(now {most})."
        )


def most_calls() -> int:
    """Return how many model calls this process takes at once."""
    return limit(VARIABLE, MOST, least=2)
