"""Runs with a memory: started, listed, shown and resumed over a checkpointer."""

from ras_flow.runs.runs import Runs, RunSummary, StoredRun
from ras_flow.runs.sqlite import open_runs

__all__ = ["RunSummary", "Runs", "StoredRun", "open_runs"]
