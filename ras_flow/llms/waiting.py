"""Back-pressure: how many model calls of this process may wait or be under way at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ras_flow.errors import OverloadedError
from ras_flow.settings.limits import limit

VARIABLE = "RAS_FLOW_MAX_CALLS"
"""Environment variable with the limit for the whole process."""

MOST = 4000
"""Default limit: some hundred questions, each with several passages under extraction."""

_lock = threading.Lock()
_taken = 0
"""Model calls that wait or are under way in this process."""


@contextmanager
def call_slot() -> Iterator[None]:
    """Count a model call until the block ends."""
    global _taken
    most = most_calls()
    with _lock:
        if _taken >= most:
            raise OverloadedError(
                f"{_taken} model calls wait or are under way, the most that this process takes. "
                "Nothing is lost: resume the run later, start fewer runs at once, or raise "
                f"{VARIABLE} (now {most})."
            )
        _taken += 1
    try:
        yield
    finally:
        with _lock:
            _taken -= 1


def check_room() -> None:
    """Refuse new questions while half of the slots are taken; the rest is for runs under way."""
    most = most_calls()
    if 2 * _taken >= most:
        raise OverloadedError(
            f"This process is busy: {_taken} model calls wait or are under way, and from "
            f"{most // 2} on it takes no new question. Try again later, or raise {VARIABLE} "
            f"(now {most})."
        )


def most_calls() -> int:
    """Return how many model calls this process takes at once."""
    return limit(VARIABLE, MOST, least=2)
