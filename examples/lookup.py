"""A system of your own in a few dozen lines: search once, structure what was found, answer.

It shares nodes, parts, runs, page, tool, server and evaluation with RAS. Try it on the demo:

    export PYTHONPATH=examples RAS_FLOW_SYSTEMS=lookup:SYSTEM
    ras-flow ask --system lookup --index demo "Who designed Finlandia Hall?"
    ras-flow runs list
"""

from __future__ import annotations

from functools import partial
from typing import Literal

from langgraph.graph import END, START

from ras_flow.builder import SystemBuilder
from ras_flow.edits.draft import EditPoint
from ras_flow.edits.graph import GRAPH_EDITS, SHARED
from ras_flow.nodes.answer import answer
from ras_flow.nodes.merge_graph import merge_graph
from ras_flow.nodes.retrieve import retrieve
from ras_flow.nodes.routes import add_route
from ras_flow.nodes.start import start
from ras_flow.nodes.to_triples import to_triples
from ras_flow.parts.source import PartsSource
from ras_flow.settings.context import Context
from ras_flow.state.channels import RunState
from ras_flow.state.stop_reasons import StopReason
from ras_flow.systems import System


def build(parts: PartsSource) -> SystemBuilder[RunState]:
    """Wire the graph: the nodes, then the edges."""
    builder = SystemBuilder(SYSTEM.name, RunState, parts)
    builder.add_work("start", partial(start, plans=SYSTEM.plans))
    builder.add_work("retrieve", retrieve)
    builder.add_work("to_triples", to_triples)
    builder.add_work("merge_graph", merge_graph)
    builder.add_work("answer", partial(answer, stop=lambda state, settings: "looked_up"))
    builder.add_edge(START, "start")
    add_route(builder, "start", after_start)
    builder.add_edge("retrieve", "to_triples")
    builder.add_edge("to_triples", "merge_graph")
    builder.add_edge("merge_graph", "answer")
    builder.add_edge("answer", END)
    return builder


def after_start(state: RunState, settings: Context) -> Literal["retrieve", "to_triples"]:
    """Search, unless documents were given: they are the first hop."""
    return "to_triples" if state["hops"] else "retrieve"


SYSTEM = System(
    name="lookup",
    about="one search, its triples, the answer",
    build=build,
    plans=False,
    stop_reasons={"looked_up": StopReason("one search was made")},
    edit_points={
        "answer": EditPoint((*GRAPH_EDITS, "model"), as_node="merge_graph"),
        "": EditPoint((*GRAPH_EDITS, "model"), as_node="merge_graph"),
    },
    operations=SHARED,
)

graph = SYSTEM.builder().compile()
"""For a server: `"lookup": "./examples/lookup.py:graph"` in langgraph.json."""
