"""A system of your own in a few dozen lines: search once, structure what was found, answer.

It has a model role, a setting, a node and a stop reason of its own, and shares the other nodes,
parts, runs, page, tool, server and evaluation with RAS. Try it on the demo:

    export PYTHONPATH=examples RAS_FLOW_SYSTEMS=lookup:SYSTEM
    ras-flow ask --system lookup --index demo "Who designed Finlandia Hall?"
    ras-flow ask --system lookup --index demo --set reword=true --set rewriter=openai:MODEL "Who …?"
    ras-flow runs list
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from langgraph.graph import END, START
from langgraph.runtime import Runtime

from ras_flow.builder import SystemBuilder
from ras_flow.edits.draft import EditPoint
from ras_flow.edits.graph import GRAPH_EDITS, SHARED
from ras_flow.formats.text import scrub
from ras_flow.nodes.answer import answer
from ras_flow.nodes.merge_graph import merge_graph
from ras_flow.nodes.retrieve import retrieve
from ras_flow.nodes.routes import add_route
from ras_flow.nodes.start import start
from ras_flow.nodes.to_triples import to_triples
from ras_flow.parts import Message
from ras_flow.parts.source import PartsSource
from ras_flow.settings.context import DEFAULT_MODEL, Context, Name
from ras_flow.state.channels import RunState
from ras_flow.state.reducers import last
from ras_flow.state.stop_reasons import StopReason
from ras_flow.state.usage import Cost
from ras_flow.systems import System


class LookupContext(Context):
    """Its settings: those that all systems share, and its own."""

    model_roles = ("extractor", "answerer", "rewriter")

    rewriter: Name = DEFAULT_MODEL
    reword: bool = False


class LookupState(RunState):
    """Its state: what every run keeps, and the rewriter's query."""

    query: Annotated[str, last(str)]


def build(parts: PartsSource) -> SystemBuilder[LookupState]:
    """Wire the graph: the nodes, then the edges."""
    builder = SystemBuilder(SYSTEM.name, LookupState, parts)
    builder.add_work("start", partial(start, own={"query": ""}))
    builder.add_work("reword", reword)
    builder.add_work("retrieve", partial(retrieve, query=query))
    builder.add_work("to_triples", to_triples)
    builder.add_work("merge_graph", merge_graph)
    builder.add_work("answer", partial(answer, stop=lambda state, settings: "looked_up"))
    builder.add_edge(START, "start")
    add_route(builder, "start", after_start)
    builder.add_edge("reword", "retrieve")
    builder.add_edge("retrieve", "to_triples")
    builder.add_edge("to_triples", "merge_graph")
    builder.add_edge("merge_graph", "answer")
    builder.add_edge("answer", END)
    return builder


def after_start(
    state: LookupState, settings: LookupContext
) -> Literal["reword", "retrieve", "to_triples"]:
    """Search, unless documents were given: they are the first hop."""
    if state["hops"]:
        return "to_triples"
    return "reword" if settings.reword else "retrieve"


async def reword(state: LookupState, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Ask the rewriter what to search for."""
    model = await parts.get_model("rewriter", parts.context(state, runtime))
    cost = Cost("rewriter", "reword")
    told = Message(role="system", content="Turn the question into a short search query.")
    asked = Message(role="user", content=state["question"])
    [written] = await model.generate([[told, asked]], max_new_tokens=40)
    cost.add(written)
    found = scrub(written.text).strip()
    runtime.stream_writer({"type": "reworded", "query": found})
    return {"query": found, "usage": cost.usage()}


def query(state: LookupState) -> str:
    """Return what to search for."""
    return state.get("query") or state["question"]


SYSTEM = System(
    name="lookup",
    about="one search, its triples, the answer",
    build=build,
    context=LookupContext,
    stop_reasons={"looked_up": StopReason("one search was made")},
    edit_points={
        "reword": EditPoint(("model",), as_node="start"),
        "answer": EditPoint((*GRAPH_EDITS, "model"), as_node="merge_graph"),
        "": EditPoint((*GRAPH_EDITS, "model"), as_node="merge_graph"),
    },
    operations=SHARED,
)

graph = SYSTEM.builder().compile()
"""For a server: `"lookup": "./examples/lookup.py:graph"` in langgraph.json."""
