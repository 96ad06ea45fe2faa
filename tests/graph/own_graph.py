"""A graph of one's own over RAS's state, nodes and parts, typed as its author would have it.

`mypy` checks this module beside the package, so that the types which it needs stay open to others.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from ras_flow import Context, RasInput, RasOutput, RasState, Runs
from ras_flow.nodes.answer import answer
from ras_flow.nodes.node import Node
from ras_flow.nodes.router import Router
from ras_flow.nodes.start import start
from ras_flow.parts.chosen import Parts
from ras_flow.state.kg import to_new_triples
from ras_flow.state.schema import Extracted, Hop


class Noted(RasState):
    """RAS's state, with a channel of its own."""

    notes: list[str]


Builder = StateGraph[Noted, Context, RasInput, RasOutput]


async def look_up(state: Noted, runtime: Runtime[Context]) -> dict[str, Any]:
    """Find a fact without a search."""
    hop = Hop(index=0, subquery=state["question"], passages=[], scores=[])
    fact = Extracted(passage="a graph", triples=[["Mira Lund", "place of birth", "Narvik"]])
    return {"hops": [hop], "triples": to_new_triples([fact]), "notes": ["looked up"]}


def where_next(state: Noted) -> str:
    """Answer once something is noted."""
    return "answer" if state["notes"] else "look_up"


def build(parts: Parts) -> Builder:
    """Wire RAS's first and last node around one of its own."""
    builder: Builder = StateGraph(
        Noted, context_schema=Context, input_schema=RasInput, output_schema=RasOutput
    )
    builder.add_node("start", Node(partial(start, parts=parts)))
    builder.add_node("look_up", Node(look_up))
    builder.add_node("answer", Node(partial(answer, parts=parts)))
    builder.add_edge(START, "start")
    builder.add_edge("start", "look_up")
    builder.add_conditional_edges("look_up", Router(where_next), ["look_up", "answer"])
    builder.add_edge("answer", END)
    return builder


def runs_of(builder: Builder) -> Runs:
    """Keep its runs in memory."""
    return Runs(builder.compile(checkpointer=InMemorySaver()))
