"""RAS, T²RAG and ReG: question answering over grown graphs, as LangGraph state machines.

``build_graph``, ``build_t2rag`` and ``build_reg`` build them; ``Context``, ``T2Context`` and
``RegContext`` are their settings. ``as_tool`` and ``open_runs`` take any of the three.

Importing this package loads no model library; names are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ras_flow.support.lazy import load_on_use

if TYPE_CHECKING:
    from ras_flow.errors import RasFlowError as RasFlowError
    from ras_flow.graph import build_graph as build_graph
    from ras_flow.reg.graph import build_reg as build_reg
    from ras_flow.reg.settings import RegContext as RegContext
    from ras_flow.runs import Runs as Runs
    from ras_flow.runs import open_runs as open_runs
    from ras_flow.settings.context import Context as Context
    from ras_flow.state.channels import RasInput as RasInput
    from ras_flow.state.channels import RasOutput as RasOutput
    from ras_flow.state.channels import RasState as RasState
    from ras_flow.t2rag.graph import build_t2rag as build_t2rag
    from ras_flow.t2rag.settings import T2Context as T2Context
    from ras_flow.tool import as_tool as as_tool

__version__ = "0.1.0"

_HOMES = {
    "Context": "settings.context",
    "RasFlowError": "errors",
    "RasInput": "state.channels",
    "RasOutput": "state.channels",
    "RasState": "state.channels",
    "RegContext": "reg.settings",
    "Runs": "runs",
    "T2Context": "t2rag.settings",
    "as_tool": "tool",
    "build_graph": "graph",
    "build_reg": "reg.graph",
    "build_t2rag": "t2rag.graph",
    "open_runs": "runs",
}

__all__ = list(_HOMES)

__getattr__ = load_on_use(__name__, _HOMES)


def __dir__() -> list[str]:
    """List the public names."""
    return sorted([*globals(), *__all__])
