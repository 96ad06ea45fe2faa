"""Runs of several systems in one place: each is continued by its own graph."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph import END, START, StateGraph
from rich.console import Console

from ras_flow import Runs
from ras_flow.builder import METADATA
from ras_flow.cli.render import Screen
from ras_flow.errors import EditError, RunError
from ras_flow.parts import Reply
from ras_flow.runs.databases.opening import open_runs_at
from ras_flow.runs.reading import get_branch, spent
from ras_flow.runs.why import explain
from ras_flow.state.channels import RasInput, RasOutput, RasState
from ras_flow.state.kg import to_new_triples
from ras_flow.state.usage import Cost
from tests.cli.command import ras_flow
from tests.graph.world import QUESTION, build, world
from tests.page.server import serving
from tests.runs.stories import BIRTH, TOP1, before, branch, drop, events, runs_with, steps, told

REWORD = {"reword": True}


@pytest.fixture
def lookup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAS_FLOW_SYSTEMS", "tests.runs.lookup:SYSTEM")


@pytest.fixture
async def home(tmp_path: Path, lookup: None) -> str:
    """A folder with run "a" of RAS and run "b" of the third system."""
    address = str(tmp_path / "home")
    async with open_runs_at(address, builder=build(world()).builder, new=True) as runs:
        await events(runs.start({"question": QUESTION}, TOP1, run_id="a"))
    async with open_runs_at(address, system="lookup") as runs:
        await events(runs.start({"question": QUESTION}, REWORD, run_id="b"))
    return address


async def test_runs_of_all_systems_are_listed_shown_and_explained(home: str) -> None:
    async with open_runs_at(home) as runs:
        assert [(run.id, run.system, run.stop_reason) for run in await runs.recent()] == [
            ("b", "lookup", "looked_up"),
            ("a", "ras", "sufficient"),
        ]
        document = await runs.document("b")
    assert told(document)[1:] == [
        *("start", "reword", "retrieve:0", "to_triples:0", "merge_graph:0", "answer")
    ]
    assert steps(document)[5]["added"] and document["system"]["name"] == "lookup"
    rewriting = steps(document)[2]["usage"]
    assert rewriting and (rewriting["role"], rewriting["calls"]) == ("rewriter", 1)
    found = explain(document)
    assert found["stop_meaning"] == "one search was made"


async def test_each_run_is_forked_by_its_own_graph(home: str) -> None:
    async with open_runs_at(home) as runs:
        document = await runs.document("b")
        triple = next(id for step in steps(document) for id in step["added"] if id != BIRTH)
        after = steps(document)[-2]["checkpoint"]
        first, *more = await events(runs.fork("b", after, drop(triple)))
        assert [event["type"] for event in more] == ["answer"]
        replayed = await events(runs.fork("b", before(document, "reword")))
        assert [event["type"] for event in replayed] == [
            "forked",
            "reworded",
            "passages",
            "extracted",
            "graph",
            "answer",
        ]
        document = await runs.document("b")
        assert [way["stop_reason"] for way in document["branches"]] == ["looked_up"] * 3
        assert [step["removed"] for step in steps(document, 2)][-2] == [triple]
        with pytest.raises(EditError):
            await events(runs.fork("b", before(document, "to_triples"), drop(triple)))
        assert (await runs.get("a")).state["stop_reason"] == "sufficient"


async def test_a_run_of_another_system_that_was_cut_off_is_resumed(home: str) -> None:
    async with open_runs_at(home, system="lookup") as runs:
        before = asyncio.all_tasks()
        async with aclosing(runs.start({"question": QUESTION}, REWORD, run_id="c")) as told_of:
            async for event in told_of:
                if event["type"] == "graph":
                    break
        assert asyncio.all_tasks() <= before
    async with open_runs_at(home) as runs:
        assert branch(await runs.document("c"), 1)["status"] == "unfinished"
    resumed = ras_flow("runs", "resume", "c", "--database", home)
    assert resumed.code == 0 and "looked_up" in resumed.out, resumed.err
    async with open_runs_at(home) as runs:
        document = await runs.document("c")
        whole = told(await runs.document("b"))
    assert told(document) == whole and branch(document, 1)["stop_reason"] == "looked_up"


async def test_the_commands_take_runs_of_another_system(home: str) -> None:
    listed = json.loads(ras_flow("runs", "list", "--json", "--database", home).out)
    assert [run["system"] for run in listed] == ["lookup", "ras"]
    newest = ras_flow("runs", "list", "--json", "--limit", "1", "--database", home)
    assert [run["run"] for run in json.loads(newest.out)] == ["b"]
    shown = ras_flow("runs", "show", "b", "--database", home)
    assert "by lookup" in shown.out and "one search was made" in shown.out
    assert ras_flow("runs", "why", "b", "--database", home).code == 0
    only = ras_flow("runs", "list", "--stop", "looked_up", "--json", "--database", home)
    assert [run["run"] for run in json.loads(only.out)] == ["b"]
    forked = ras_flow("runs", "replay", "b", "--from", "start", "--database", home)
    assert forked.code == 0 and "Reworded" in forked.out and "Compare with" in forked.out
    edit = json.dumps({"op": "add_triple", "subject": "x", "predicate": "y", "object": "z"})
    forked = ras_flow(
        "runs", "fork", "b", "--from", "merge_graph", "--edit", edit, "--database", home
    )
    assert forked.code == 0, forked.err
    unknown = ras_flow("runs", "fork", "b", "--from", "4", "--edit", "{", "--database", home)
    assert unknown.code != 0 and "JSON" in unknown.err


async def test_the_page_shows_and_forks_runs_of_another_system(home: str) -> None:
    async with open_runs_at(home) as runs, serving(runs) as page:
        document = await page.get("api/runs/b")
        assert document["system"]["edits"]["answer"] == [
            "drop_triple",
            "add_triple",
            "drop_passage",
            "model",
        ]
        assert document["system"]["roles"] == ["extractor", "answerer", "rewriter"]
        assert "looked_up" in (await page.get("api/runs"))["stop_reasons"]
        offered = (await page.get("api/choices"))["systems"]
        assert [one["name"] for one in offered][0] == "ras"
        assert {"lookup", "t2rag"} <= {one["name"] for one in offered}
        asked = {"question": QUESTION, "settings": REWORD, "system": "lookup"}
        told_of = await page.events("api/runs", asked)
        assert "reworded" in [event["type"] for event in told_of]
        assert (await runs.recent(limit=1))[0].system == "lookup"
        body = {"checkpoint": before(document, "reword"), "edits": []}
        events = await page.events("api/fork/b", body)
        assert [event["type"] for event in events] == [
            *("forked", "reworded", "passages", "extracted", "graph", "answer", "done")
        ]


async def test_a_run_of_an_unknown_system_is_shown_and_not_gone_on_with(saver: Any) -> None:
    graph = build(world(), checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "a"}, "metadata": {METADATA: "react"}}
    await graph.ainvoke({"question": QUESTION}, config)
    runs = Runs(graph)
    assert [run.id for run in await runs.recent()] == ["a"]
    document = await runs.document("a")
    system = document["system"]
    assert (system["name"], system["roles"], system["edits"]) == ("react", [], {})
    step = get_branch(document)["steps"][-2]
    for edits in ([], drop()):
        with pytest.raises(RunError, match="'react'"):
            await events(runs.fork("a", step, edits))
    # A further question is this graph's own.
    await events(runs_with(saver).start({"question": QUESTION}, TOP1, run_id="a"))
    document = await runs.document("a")
    assert document["system"]["name"] == "ras"
    await events(runs_with(saver, []).fork("a", before(document, "answer"), drop()))
    assert branch(await runs.document("a"), 2)["answer"] == "elsewhere"


def test_an_event_of_another_system_is_shown_by_its_fields() -> None:
    paper = Console(file=StringIO(), width=100)
    Screen(console=paper).show({"type": "resolved\x1b", "entity": "Mira"})  # type: ignore[arg-type]
    text = paper.file.getvalue()  # type: ignore[attr-defined]
    assert "entity: Mira" in text and "\x1b" not in text


def rank(state: RasState) -> dict[str, Any]:
    """Do what no node of RAS does, and count what it cost under a name of its own."""
    cost = Cost("planner", "rank:first")
    cost.add(Reply("", 20, 4))
    facts = [["Mira Lund", "place of birth", "Narvik"]]
    triples = to_new_triples([{"passage": "p", "triples": facts}])
    return {"triples": triples, "hops": [], "passages": {}, "usage": cost.usage()}


def answer(state: RasState) -> dict[str, Any]:
    """Answer without a reason to stop."""
    cost = Cost("answerer", "answer")
    cost.add(Reply("", 30, 6))
    return {"answer": "Narvik", "usage": cost.usage()}


@pytest.mark.parametrize("at_once", [False, True])
async def test_what_nodes_of_other_names_cost_is_counted(memory: Any, at_once: bool) -> None:
    builder = StateGraph(RasState, input_schema=RasInput, output_schema=RasOutput)
    builder.add_node("rank", rank)
    builder.add_node("answer", answer)
    builder.add_edge(START, "rank")
    builder.add_edge(START if at_once else "rank", "answer")
    builder.add_edge("answer", END)
    graph: Any = builder.compile(checkpointer=memory, name="own")
    runs = Runs(graph)
    await events(runs.start({"question": QUESTION}, run_id="a"))
    document = await runs.document("a")
    total = spent(document, get_branch(document))
    assert (total["calls"], total["input_tokens"], total["output_tokens"]) == (2, 50, 10)
    assert branch(document, 1)["answer"] == "Narvik" and document["system"]["name"] == "own"
    # It can be replayed; nobody says what edits would do.
    first = branch(document, 1)["steps"][0]
    await events(runs.fork("a", first))
    with pytest.raises(RunError, match="own"):
        await events(runs.fork("a", first, drop()))
    assert len((await runs.document("a"))["branches"]) == 2
