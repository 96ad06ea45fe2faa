"""Runs with a memory: started, listed, shown and resumed over a checkpointer.

Importing this package loads no graph; names are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ras_flow.support.lazy import load_on_use

if TYPE_CHECKING:
    from ras_flow.runs.databases.sqlite import open_runs
    from ras_flow.runs.databases.stores import open_store
    from ras_flow.runs.runs import Runs
    from ras_flow.runs.stored import RunSummary, StoredRun

_HOMES = {
    "RunSummary": "stored",
    "Runs": "runs",
    "StoredRun": "stored",
    "open_runs": "databases.sqlite",
    "open_store": "databases.stores",
}

__all__ = ["RunSummary", "Runs", "StoredRun", "open_runs", "open_store"]

__getattr__ = load_on_use(__name__, _HOMES)
