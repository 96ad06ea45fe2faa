"""A user's system over the shared state, nodes and parts, typed as its author would type it.

`mypy` checks this module beside the package, so that the types which it needs stay open to others.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START
from langgraph.runtime import Runtime

from ras_flow import Runs
from ras_flow.builder import SystemBuilder
from ras_flow.nodes.answer import answer
from ras_flow.nodes.routes import add_route
from ras_flow.nodes.start import start
from ras_flow.parts.source import PartsSource
from ras_flow.settings.context import Context
from ras_flow.state.channels import RunState
from ras_flow.state.kg import to_new_triples
from ras_flow.state.schema import Extracted, Hop


class Noted(RunState):
    """Every system's state, with a channel of its own."""

    notes: list[str]


Builder = SystemBuilder[Noted]


async def look_up(state: Noted, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Find a fact without a search."""
    hop = Hop(index=0, subquery=state["question"], passages=[], scores=[])
    fact = Extracted(passage="a graph", triples=[["Mira Lund", "place of birth", "Narvik"]])
    return {"hops": [hop], "triples": to_new_triples([fact]), "notes": ["looked up"]}


def where_next(state: Noted, settings: Context) -> str:
    """Answer once something is noted."""
    return "answer" if state["notes"] else "look_up"


def build(parts: PartsSource) -> Builder:
    """Wire the shared first and last node around one of its own."""
    builder = SystemBuilder("noted", Noted, parts)
    builder.add_work("start", start)
    builder.add_work("look_up", look_up)
    builder.add_work("answer", partial(answer, stop=lambda state, settings: "sufficient"))
    builder.add_edge(START, "start")
    builder.add_edge("start", "look_up")
    add_route(builder, "look_up", (where_next, {"look_up": "look_up", "answer": "answer"}))
    builder.add_edge("answer", END)
    return builder


def runs_of(builder: Builder) -> Runs:
    """Keep its runs in memory."""
    return Runs(builder.compile(checkpointer=InMemorySaver()))
