"""How many calls of one remote model are under way at once, whoever makes them."""

from __future__ import annotations

import asyncio
from threading import Lock
from weakref import WeakValueDictionary

from ras_flow.llms.remote.failures import Endpoint
from ras_flow.support.concurrency import PerLoop

Slots = PerLoop[asyncio.Semaphore]
"""The slots of each event loop."""

_lock = Lock()
_shared: WeakValueDictionary[tuple[str, str, int], Slots] = WeakValueDictionary()


def make_slots(most: int) -> Slots:
    """Make slots for one model alone."""
    return PerLoop(lambda: asyncio.Semaphore(most))


def shared_slots(endpoint: Endpoint, most: int) -> Slots:
    """Return the slots that all who name a model share."""
    with _lock:
        return _shared.setdefault((endpoint.model, endpoint.host, most), make_slots(most))
