"""Retrieval-and-structuring (RAS) as a LangGraph state machine.

Importing this package loads no model library; names are loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ras_flow.context import Context
    from ras_flow.errors import RasFlowError
    from ras_flow.graph import build_graph
    from ras_flow.runs import Runs, open_runs
    from ras_flow.state.channels import RasInput, RasOutput, RasState
    from ras_flow.tool import as_tool

__version__ = "0.1.0"

_HOMES = {
    "Context": "ras_flow.context",
    "RasFlowError": "ras_flow.errors",
    "RasInput": "ras_flow.state.channels",
    "RasOutput": "ras_flow.state.channels",
    "RasState": "ras_flow.state.channels",
    "Runs": "ras_flow.runs",
    "as_tool": "ras_flow.tool",
    "build_graph": "ras_flow.graph",
    "open_runs": "ras_flow.runs",
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


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*globals(), *__all__])
