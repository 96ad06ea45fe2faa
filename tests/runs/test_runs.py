"""Runs over each checkpointer: several questions, order, resumption from every point."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any, TypedDict

import pytest
from langgraph.graph import START, StateGraph

from ras_flow import Context, Runs, build_graph, open_runs
from ras_flow.errors import RunError
from ras_flow.runs import StoredRun
from ras_flow.state.channels import RasState
from ras_flow.testing import ScriptedAnswerer
from tests.graph.world import QUESTION, SECOND, build, world

TOP1 = Context(top_k=1)


async def told(runs: Runs, question: str, run_id: str, context: Context = TOP1) -> list[Any]:
    return [event async for event in runs.start({"question": question}, context, run_id=run_id)]


async def test_a_stored_run_tells_the_story_that_was_streamed(saver: Any) -> None:
    plans = ["[SUBQ] x", "no label", SECOND]
    runs = Runs(build(world(plans), checkpointer=saver))
    live = await told(runs, QUESTION, "a")
    stored = await runs.get("a")
    plans_made = [event["raw"] for event in live if event["type"] == "plan"]
    assert plans_made == [plan["raw"] for plan in stored.state["plans"]] and len(plans_made) == 4
    assert live[-1]["citations"] == stored.state["citations"]
    assert stored.next == ()
    assert stored.context == TOP1
    result = stored.result()
    assert (result["run"], result["answer"]) == ("a", "Narvik")
    assert result["settings"] == {"top_k": 1}


async def test_settings_that_are_named_leave_the_rest_to_the_graph(memory: Any) -> None:
    parts = world(["[SUBQ] x"] * 6, defaults=Context(top_k=2, max_hops=1))
    runs = Runs(build(parts, checkpointer=memory))
    own = Context(top_k=2, max_hops=1)
    named: list[tuple[Any, Context]] = [
        ({"top_k": 1}, Context(top_k=1, max_hops=1)),
        ({}, own),
        (None, own),
        (Context(max_hops=5), Context(top_k=2, max_hops=5)),
        (Context(), own),
    ]
    for given, expected in named:
        [event async for event in runs.start({"question": QUESTION}, given, run_id="a")]
        assert (await runs.get("a")).context == expected


async def test_the_newest_question_is_listed_first(saver: Any) -> None:
    runs = Runs(build(world([], answerer=ScriptedAnswerer("so")), checkpointer=saver))
    none = Context(max_hops=0)
    for run_id in ("c", "a", "b"):
        await told(runs, f"{run_id}?", run_id, none)
    await told(runs, "again?", "c", none)
    summaries = await runs.recent()
    assert [(run.id, run.question) for run in summaries] == [
        ("c", "again?"),
        ("b", "b?"),
        ("a", "a?"),
    ]
    assert {(run.stop_reason, run.answer) for run in summaries} == {("max_hops", "so")}
    started = [run.started for run in summaries]
    assert started == sorted(started, reverse=True)
    assert all(len(time) == 20 and time.endswith("Z") for time in started)
    assert await runs.recent(limit=2) == summaries[:2]


class Chat(TypedDict):
    question: str | None
    notes: str


class Parent(RasState):
    notes: str


def app(node: Any, state: Any, saver: Any) -> Any:
    """Another app's graph, with one node, in the same checkpointer."""
    return StateGraph(state).add_node("node", node).add_edge(START, "node").compile(saver)


async def test_other_apps_threads_are_no_runs(saver: Any) -> None:
    def talk(state: Chat) -> dict[str, str]:
        return {"notes": "hello"}

    runs = Runs(build(world(), checkpointer=saver))
    await told(runs, QUESTION, "a")
    ras, question = build(world()), {"question": QUESTION, "notes": "mine"}
    await app(ras, Parent, saver).ainvoke(question, thread("extends"))
    await app(ras, Chat, saver).ainvoke(question, thread("embeds"))
    await app(talk, Chat, saver).ainvoke({"question": None}, thread("chat"))
    await app(talk, Chat, saver).ainvoke({"question": None}, thread("exit"), durability="exit")
    assert [run.id for run in await runs.recent()] == ["a"]
    for other in ("extends", "embeds", "chat", "exit"):
        for asked in (runs.get, runs.newest, runs.document, runs.history):
            with pytest.raises(RunError, match=f"no run '{other}'"):
                await asked(other)
        with pytest.raises(RunError, match=f"no run '{other}'"):
            await runs.delete(["a", other])
        assert await saver.aget_tuple(thread(other))
    await app(talk, Chat, saver).ainvoke({"question": "And?"}, thread("a"))
    assert await runs.recent() == [], "a thread of both is not only ours"


async def test_a_run_is_listed_though_one_of_its_parts_is_a_graph(saver: Any) -> None:
    async def talk(state: Chat) -> dict[str, str]:
        return {"notes": "Narvik"}

    inner = app(talk, Chat, None)

    class Asks(ScriptedAnswerer):
        async def answer(self, requests: Any) -> Any:
            await inner.ainvoke({"question": requests[0].question})
            return await super().answer(requests)

    runs = Runs(build(world(answerer=Asks("Narvik")), checkpointer=saver))
    await told(runs, QUESTION, "a")
    kept = [each.config["configurable"] async for each in saver.alist(thread("a"))]
    assert any(keys["checkpoint_ns"] for keys in kept), "the inner graph's are in the same thread"
    assert [(run.id, run.answer) for run in await runs.recent()] == [("a", "Narvik")]


def thread(id: str) -> Any:
    return {"configurable": {"thread_id": id}}


async def test_history_goes_from_the_first_step_to_the_last(saver: Any) -> None:
    plans = ["[SUBQ] x", SECOND, "[SUFFICIENT]", SECOND]
    runs = Runs(build(world(plans), checkpointer=saver))
    await told(runs, QUESTION, "a")
    steps = await runs.history("a")
    assert [step.next for step in steps][:3] == [("__start__",), ("start",), ("plan",)]
    assert steps[-1].next == () and steps[-1].values["answer"] == "Narvik"
    # Replayed from the second plan on, by what the docstring promises.
    second = [step for step in steps if step.next == ("plan",)][1]
    replayed = await runs._threads.graph.ainvoke(None, second.config)
    assert replayed["answer"] == "Narvik"


def rows(path: Path, table: str) -> int:
    with sqlite3.connect(path) as runs:
        return int(runs.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


@pytest.mark.parametrize("writes", ["kept", "lost"])
async def test_a_run_resumes_from_every_point_at_which_it_can_die(
    writes: str, tmp_path: Path
) -> None:
    """A step's work is stored first, then the checkpoint after it: a process can die between."""
    whole = tmp_path / "whole"
    async with open_runs(whole, builder=build_graph(**world())) as runs:
        live = await told(runs, QUESTION, "a")
        expected = told_of(await runs.get("a"))
    checkpoints = rows(whole / "runs.sqlite", "checkpoints")
    assert checkpoints > 10
    for kept in range(1, checkpoints):
        home = tmp_path / f"{kept}"
        shutil.copytree(whole, home)
        with sqlite3.connect(home / "runs.sqlite") as database:
            [(last,)] = database.execute(
                "SELECT checkpoint_id FROM checkpoints ORDER BY 1 LIMIT 1 OFFSET ?", (kept - 1,)
            )
            database.execute("DELETE FROM checkpoints WHERE checkpoint_id > ?", (last,))
            operator = ">" if writes == "kept" else ">="
            database.execute(f"DELETE FROM writes WHERE checkpoint_id {operator} ?", (last,))
        asked = planned_before(live, kept, writes)
        plans = ["[SUBQ] x", SECOND, "[SUFFICIENT]"][asked:]
        parts = world(plans)
        async with open_runs(home, builder=build_graph(**parts)) as runs:
            stored = await runs.get("a")
            assert stored.next and stored.summary.stop_reason is None
            if kept > 1 or writes == "kept":  # Before, LangGraph tells nothing of the input.
                document = await runs.document("a")
                assert stored.summary.question == document["question"] == QUESTION
            [summary] = await runs.recent()
            assert summary == stored.summary
            [event async for event in runs.resume("a")]
            done = await runs.get("a")
        assert told_of(done) == expected, f"died after checkpoint {kept}"
        assert done.next == ()
        assert len(parts["planner"].requests) == len(plans), "a finished plan was asked for again"
        assert parts["extractor"].calls == [], "known passages were extracted again"


def told_of(run: StoredRun) -> dict[str, Any]:
    """What a run came to, but for its times."""
    return {name: value for name, value in run.result().items() if name != "usage"}


def planned_before(live: list[Any], kept: int, writes: str) -> int:
    """Count the plans among the steps whose work is stored."""
    steps = ["input", "start"]
    for event in live:
        match event["type"]:
            case "plan" | "answer":
                steps.append(event["type"])
            case "passages":
                steps.extend(["retrieve", "to_triples", "merge_graph"])
    return steps[: kept if writes == "kept" else kept - 1].count("plan")
