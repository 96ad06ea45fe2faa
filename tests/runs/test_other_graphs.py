"""Runs of a graph of another system, over RAS's state."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph

from ras_flow import Runs
from ras_flow.errors import EditError, RunError
from ras_flow.parts import Reply
from ras_flow.runs.reading import get_branch, spent
from ras_flow.runs.threads import SYSTEM
from ras_flow.state.channels import RasInput, RasOutput, RasState
from ras_flow.state.kg import to_new_triples
from ras_flow.state.usage import Cost
from tests.graph.world import QUESTION, build, world
from tests.runs.stories import drop, events, steps


def rank(state: RasState) -> dict[str, Any]:
    """Do what no node of RAS does, and count what it cost under a name of its own."""
    cost = Cost("planner", "rank:first")
    cost.add(Reply("", 20, 4))
    triples = to_new_triples(
        [{"passage": "p", "triples": [["Mira Lund", "place of birth", "Narvik"]]}]
    )
    return {"triples": triples, "hops": [], "plans": [], "passages": {}, "usage": cost.usage()}


def answer(state: RasState) -> dict[str, Any]:
    cost = Cost("answerer", "answer")
    cost.add(Reply("", 30, 6))
    return {"answer": "Narvik", "stop_reason": "sufficient", "usage": cost.usage()}


async def asked(saver: Any) -> Runs:
    builder = StateGraph(RasState, input_schema=RasInput, output_schema=RasOutput)
    builder.add_node("rank", rank)
    builder.add_node("answer", answer)
    builder.add_edge(START, "rank")
    builder.add_edge("rank", "answer")
    builder.add_edge("answer", END)
    graph: Any = builder.compile(checkpointer=saver)
    runs = Runs(graph)
    await events(runs.start({"question": "Where was Mira Lund born?"}, run_id="a"))
    return runs


async def test_what_a_node_of_another_name_cost_is_counted(saver: Any) -> None:
    runs = await asked(saver)
    document = await runs.document("a")
    costs = [(step["node"], step["usage"]["calls"]) for step in steps(document) if step["usage"]]
    assert costs == [("rank", 1), ("answer", 1)]
    total = spent(document, get_branch(document))
    assert (total["calls"], total["input_tokens"], total["output_tokens"]) == (2, 50, 10)


async def test_what_nodes_at_work_at_once_cost_is_counted(saver: Any) -> None:
    builder = StateGraph(RasState, input_schema=RasInput, output_schema=RasOutput)
    builder.add_node("answer", answer)
    builder.add_node("rank", rank)
    builder.add_edge(START, "answer")
    builder.add_edge(START, "rank")
    graph: Any = builder.compile(checkpointer=saver)
    runs = Runs(graph)
    await events(runs.start({"question": "Where was Mira Lund born?"}, run_id="a"))
    document = await runs.document("a")
    total = spent(document, get_branch(document))
    assert (total["calls"], total["input_tokens"], total["output_tokens"]) == (2, 50, 10)


async def test_what_another_system_did_is_shown_and_not_gone_on_with(saver: Any) -> None:
    graph = build(world(), checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "a"}, "metadata": {SYSTEM: "react"}}
    await graph.ainvoke({"question": QUESTION}, config)
    runs = Runs(graph)
    assert [run.id for run in await runs.recent()] == ["a"]
    step = get_branch(await runs.document("a"))["steps"][-2]
    for edits in ([], drop()):
        with pytest.raises(RunError, match="system 'react'"):
            await events(runs.fork("a", step, edits))
    # A further question is this graph's own.
    await events(runs.start({"question": QUESTION}, run_id="a"))
    step = get_branch(await runs.document("a"))["steps"][1]
    await events(runs.fork("a", step))


async def test_an_edit_that_the_graph_has_no_place_for_changes_nothing(saver: Any) -> None:
    runs = await asked(saver)
    before = await runs.document("a")
    ranked = get_branch(before)["steps"][1]
    with pytest.raises(EditError, match="no node 'review_answer'"):
        await events(runs.fork("a", ranked, drop()))
    assert await runs.document("a") == before
    await events(runs.fork("a", ranked))
    assert len((await runs.document("a"))["branches"]) == 2
