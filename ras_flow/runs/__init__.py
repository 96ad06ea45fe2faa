"""Runs with a memory: started, listed, shown and resumed over a checkpointer."""

from ras_flow.runs.runs import Runs
from ras_flow.runs.sqlite import open_runs
from ras_flow.runs.stored import RunSummary, StoredRun

__all__ = ["RunSummary", "Runs", "StoredRun", "open_runs"]
