"""The document of a run: its steps, branches and evidence, over each checkpointer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langgraph.types import Command, interrupt

from ras_flow import Context
from ras_flow.errors import RunError
from ras_flow.runs.reading import find_hop_step, graph_after, graph_of
from ras_flow.state.kg import triple_id
from ras_flow.testing import MappingExtractor, ScriptedAnswerer, ScriptedPlanner
from tests.graph.world import QUESTION, TRIPLES
from tests.runs.stories import (
    BIRTH,
    TOP1,
    WHOLE,
    asked,
    before,
    branch,
    cut_off,
    down,
    drop,
    events,
    runs_with,
    steps,
    told,
)

DESIGNED = triple_id("Aurora Bridge", "designer", "Mira Lund")


async def test_each_step_says_what_it_did(saver: Any) -> None:
    document = await (await asked(saver)).document("a")
    assert told(document) == WHOLE
    json.dumps(document)
    done = dict(zip(WHOLE, steps(document), strict=True))
    assert [name for name, step in done.items() if step["plan"]] == ["plan:0", "plan:1", "plan:2"]
    assert [name for name, step in done.items() if step["passages"]] == ["retrieve:0", "retrieve:1"]
    assert {name: len(step["added"]) for name, step in done.items() if step["added"]} == {
        "merge_graph:0": 2,
        "merge_graph:1": 2,
    }
    assert [name for name, step in done.items() if step["usage"] is None] == [
        *("question", "start", "merge_graph:0", "merge_graph:1")
    ]
    assert done["plan:0"]["usage"]["output_tokens"] == 2  # type: ignore[index]
    assert done["plan:0"]["next"] == ["retrieve"] and done["answer"]["next"] == []
    parents = [step["parent"] for step in steps(document)]
    assert parents == [None, *branch(document, 1)["steps"][:-1]]


async def test_a_branch_says_what_came_of_it(memory: Any) -> None:
    runs = await asked(memory)
    document = await runs.document("a")
    state = (await runs.get("a")).state
    [only] = document["branches"]
    assert (only["number"], only["forked_from"], only["status"]) == (1, None, "finished")
    assert (only["answer"], only["stop_reason"]) == ("Narvik", "sufficient")
    assert (only["citations"], only["hops"], only["plans"]) == (
        state["citations"],
        state["hops"],
        state["plans"],
    )
    assert [len(ids) for ids in only["hop_triples"]] == [2, 2]
    assert only["settings"] == {"top_k": 1}
    assert (document["question"], document["current"]) == (QUESTION, 1)
    assert document["passages"] == state["passages"]
    assert document["entities"]["mira lund"] == "Mira Lund"
    assert document["edges"][BIRTH] == ("mira lund", "narvik")
    assert {triple["subject"] for triple in document["triples"].values()} == {
        *("Aurora Bridge", "Mira Lund", "MIRA LUND")
    }


async def test_a_triple_is_stated_after_a_step_by_what_was_found_until_then(memory: Any) -> None:
    says = {**TRIPLES, "Mira Lund": "(S> Aurora Bridge| P> designer| O> Mira Lund)"}
    first = runs_with(memory, extractor=MappingExtractor(says))
    await events(first.start({"question": QUESTION}, TOP1, run_id="a"))
    document = await first.document("a")
    way = branch(document, 1)
    [one, two] = [hop["passages"][0] for hop in way["hops"]]
    after = [find_hop_step(document, way, hop) for hop in (0, 1)]
    stated = [graph_of(document, way, step)[DESIGNED]["passages"] for step in (*after, None)]
    assert stated == [[one], [one, two], [one, two]]
    edits = [{"op": "drop_passage", "passage": id} for id in (one, two)]
    await events(runs_with(memory, []).fork("a", way["steps"][-1], edits))
    document = await first.document("a")
    way = branch(document, 2)
    assert DESIGNED not in graph_of(document, way)
    assert graph_of(document, way, after[0])[DESIGNED]["passages"] == [one]


async def test_a_run_that_failed_is_unfinished(saver: Any) -> None:
    runs = runs_with(saver, answerer=ScriptedAnswerer(down))
    await cut_off(runs.start({"question": QUESTION}, TOP1, run_id="a"))
    document = await runs.document("a")
    assert told(document) == WHOLE[:-1]
    [only] = document["branches"]
    assert (only["status"], only["answer"], only["stop_reason"]) == ("unfinished", "", None)
    await events(runs_with(saver).resume("a"))
    after = await runs.document("a")
    assert told(after) == WHOLE
    assert steps(after)[:-1] == steps(document), "resuming rewrote what was there"


async def test_a_second_question_has_nothing_of_the_first(saver: Any) -> None:
    await asked(saver)

    planner = ScriptedPlanner([])
    planner.plan = down  # type: ignore[method-assign]
    runs = runs_with(saver, planner=planner)
    await cut_off(runs.start({"question": "And?"}, TOP1, run_id="a"))
    document = await runs.document("a")
    assert (document["question"], told(document)) == ("And?", ["question", "start"])
    assert (document["triples"], branch(document, 1)["hops"]) == ({}, [])
    await events(runs_with(saver, ["[SUBQ] x"]).resume("a"))
    document = await runs.document("a")
    assert told(document) == [*WHOLE[:6], "plan:1", "answer"]
    assert branch(document, 1)["answer"] == "elsewhere"


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
async def test_a_run_can_be_read_however_it_was_kept(saver: Any, durability: Any) -> None:
    thread: Any = {"configurable": {"thread_id": "a"}}
    for _ in range(2):
        graph: Any = runs_with(saver)._threads.graph  # type: ignore[attr-defined]
        given = {"question": QUESTION, "settings": {"top_k": 1}}
        await graph.ainvoke(given, thread, durability=durability)
    runs = runs_with(saver)
    document = await runs.document("a")
    assert told(document) == (["question"] if durability == "exit" else WHOLE)
    [only] = document["branches"]
    assert (only["answer"], only["status"]) == ("Narvik", "finished")
    assert BIRTH in graph_after(document, only)
    spent = [step["usage"] for step in steps(document) if step["usage"]]
    assert sum(usage["calls"] for usage in spent) == 6
    [summary] = await runs.recent()
    assert (summary.id, summary.answer) == ("a", "Narvik")
    await events(runs_with(saver, []).fork("a", only["steps"][-1], drop()))
    document = await runs.document("a")
    assert [way["answer"] for way in document["branches"]] == ["Narvik", "elsewhere"]


async def test_a_review_is_in_the_document_while_it_waits(saver: Any) -> None:
    runs = runs_with(saver)
    context = Context(top_k=1, pause_after_merge=True)
    await events(runs.start({"question": QUESTION}, context, run_id="a"))
    document = await runs.document("a")
    assert branch(document, 1)["status"] == "paused"
    last = steps(document)[-1]
    assert last["next"] == ["review_graph"]
    assert last["review"] is not None and last["review"]["point"] == "after_merge"
    assert not (await runs.newest("a")).finished
    designer = steps(document)[-1]["added"][0]
    await events(runs.resume("a", drop(designer)))
    document = await runs.document("a")
    reviewed = steps(document)[6]
    assert (reviewed["node"], reviewed["removed"]) == ("review_graph", [designer])
    assert [step["review"] is not None for step in steps(document)].count(True) == 1
    await events(runs.resume("a", []))
    assert branch(await runs.document("a"), 1)["status"] == "finished"


async def test_what_a_part_asks_by_itself_is_no_review(memory: Any) -> None:
    class Asks(ScriptedAnswerer):
        async def answer(self, requests: Any) -> Any:
            self._answer = interrupt("Where was she born?")
            return await super().answer(requests)

    runs = runs_with(memory, answerer=Asks(""))
    await events(runs.start({"question": QUESTION}, TOP1, run_id="a"))
    document = await runs.document("a")
    assert branch(document, 1)["status"] == "unfinished"
    assert steps(document)[-1]["review"] is None
    thread: Any = {"configurable": {"thread_id": "a"}}
    graph: Any = runs._threads.graph  # type: ignore[attr-defined]
    await graph.ainvoke(Command(resume="Narvik"), thread)
    assert branch(await runs.document("a"), 1)["answer"] == "Narvik"


@pytest.mark.parametrize("newest", [True, False])
async def test_who_looked_before_somebody_else_answered_is_told(
    memory: Any, newest: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = Context(top_k=1, pause_before_answer=True)
    ours, theirs = runs_with(memory), runs_with(memory)
    await events(ours.start({"question": QUESTION}, context, run_id="a"))
    if not newest:
        document = await ours.document("a")
        await events(runs_with(memory, []).fork("a", before(document, "plan")))
    go_on = theirs._threads.stream

    async def late(*given: Any, **more: Any) -> AsyncIterator[Any]:
        await events(ours.resume("a", [], branch=1))
        async for event in go_on(*given, **more):
            yield event

    monkeypatch.setattr(theirs._threads, "stream", late)
    with pytest.raises(RunError, match="Run a has gone on elsewhere"):
        await events(theirs.resume("a", [], branch=1))
    document = await ours.document("a")
    assert branch(document, 1)["status"] == "finished"
    assert len(document["branches"]) == (1 if newest else 2)
