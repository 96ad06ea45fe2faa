"""Retrieval-and-structuring (RAS) as a LangGraph state machine.

Importing this package loads no model library; names are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ras_flow.support.lazy import load_on_use

if TYPE_CHECKING:
    from ras_flow.errors import RasFlowError
    from ras_flow.graph import build_graph
    from ras_flow.runs import Runs, open_runs
    from ras_flow.settings.context import Context
    from ras_flow.state.channels import RasInput, RasOutput, RasState
    from ras_flow.tool import as_tool

__version__ = "0.1.0"

_HOMES = {
    "Context": "settings.context",
    "RasFlowError": "errors",
    "RasInput": "state.channels",
    "RasOutput": "state.channels",
    "RasState": "state.channels",
    "Runs": "runs",
    "as_tool": "tool",
    "build_graph": "graph",
    "open_runs": "runs",
}

__all__ = [
    "Context",
    "RasFlowError",
    "RasInput",
    "RasOutput",
    "RasState",
    "Runs",
    "as_tool",
    "build_graph",
    "open_runs",
]

__getattr__ = load_on_use(__name__, _HOMES)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*globals(), *__all__])
