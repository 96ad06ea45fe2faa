"""Builders of graphs whose runs say which system they are of."""

from __future__ import annotations

from typing import Any, TypeVar

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from ras_flow.nodes.node import Node, Work
from ras_flow.parts.source import PartsSource
from ras_flow.state.channels import RasInput, RasOutput, RunState

S = TypeVar("S", bound=RunState)

METADATA = "ras_flow_system"
"""Key of a checkpoint's metadata: the name of the system whose run it is."""


class SystemBuilder(StateGraph[S, Any, RasInput, Any]):
    """A builder of a system's graph.

    Args:
        system: The system's name; checkpoints carry it, so that a run is continued by its graph.
        state: The class of its state.
        parts: Where its nodes get their parts.
        output: The class of what a finished run returns.
    """

    def __init__(
        self,
        system: str,
        state: type[S],
        parts: PartsSource,
        *,
        output: type[RasOutput] = RasOutput,
    ) -> None:
        context = type(parts.defaults)
        super().__init__(state, context_schema=context, input_schema=RasInput, output_schema=output)
        self.system = system
        self.parts = parts

    def add_work(self, name: str, work: Work) -> None:
        """Add a node that is given state, runtime and parts, and works for all callers."""
        self.add_node(name, Node(work, self.parts))

    def compile(self, *arguments: Any, **more: Any) -> CompiledStateGraph[S, Any, Any, Any]:
        """Compile the graph as LangGraph does; graph and checkpoints carry the system's name."""
        graph = super().compile(*arguments, **{"name": self.system, **more})
        return graph.with_config(metadata={METADATA: self.system})
