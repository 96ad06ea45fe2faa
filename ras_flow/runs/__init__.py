"""Runs with a memory: started, listed, shown and resumed over a checkpointer.

Importing this package loads no graph; names are loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ras_flow.runs.runs import Runs
    from ras_flow.runs.sqlite import open_runs
    from ras_flow.runs.stored import RunSummary, StoredRun

_HOMES = {
    "RunSummary": "stored",
    "Runs": "runs",
    "StoredRun": "stored",
    "open_runs": "sqlite",
}

__all__ = ["RunSummary", "Runs", "StoredRun", "open_runs"]


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
