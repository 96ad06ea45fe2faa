"""A third system in a few lines: one search, its triples, and an answer."""

from __future__ import annotations

from functools import partial
from typing import Any

from langgraph.graph import END, START
from langgraph.runtime import Runtime

from ras_flow.builder import SystemBuilder
from ras_flow.edits.draft import EditPoint
from ras_flow.edits.graph import GRAPH_EDITS, SHARED
from ras_flow.nodes.answer import answer
from ras_flow.nodes.merge_graph import merge_graph
from ras_flow.nodes.retrieve import retrieve
from ras_flow.nodes.start import start
from ras_flow.nodes.to_triples import to_triples
from ras_flow.parts.chosen import Parts
from ras_flow.parts.source import PartsSource
from ras_flow.state.channels import RunState
from ras_flow.state.stop_reasons import StopReason
from ras_flow.systems import System
from tests.graph.world import world

NODES = ("start", "retrieve", "to_triples", "merge_graph", "glance", "answer")


async def glance(state: RunState, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Do what no node of RAS does, with an event of its own."""
    runtime.stream_writer({"type": "glanced", "triples": len(state["triples"])})
    return {}


def wire(parts: PartsSource) -> SystemBuilder[RunState]:
    builder = SystemBuilder("glance", RunState, parts)
    steps: list[Any] = [
        start,
        partial(retrieve, top_k=2),
        to_triples,
        merge_graph,
        glance,
        partial(answer, stop=lambda state, settings: "glanced"),
    ]
    for before, name, step in zip((START, *NODES), NODES, steps, strict=False):
        builder.add_work(name, step)
        builder.add_edge(before, name)
    builder.add_edge("answer", END)
    return builder


SYSTEM = System(
    name="glance",
    about="one search, its triples, and an answer",
    # Scripted parts, so that the command line and the page need no model.
    build=lambda parts: wire(Parts.of(**world())),
    stop_reasons={"glanced": StopReason("one search is all it makes")},
    edit_points={node: EditPoint(GRAPH_EDITS, "glance") for node in ("answer", "")},
    operations=SHARED,
)
