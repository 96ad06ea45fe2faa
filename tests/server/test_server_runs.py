"""Runs on `langgraph dev`, through the library and the command line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from ras_flow import Context, Runs
from ras_flow.edits.records import Edit
from ras_flow.errors import (
    AuthenticationError,
    ConfigurationError,
    EditError,
    RunError,
)
from ras_flow.runs.databases.opening import open_runs_at
from ras_flow.runs.databases.server import ServerThreads, open_server_runs
from ras_flow.runs.reading import branch_with
from ras_flow.state.kg import triple_id
from tests.cli.command import Command
from tests.graph.world import DOCUMENTS, QUESTION
from tests.server.dev import KEYS, DevServer, langgraph_dev

pytestmark = pytest.mark.slow

BIRTH = triple_id("Mira Lund", "place of birth", "Narvik")
DROP: Edit = {"op": "drop_triple", "triple": BIRTH}


@pytest.fixture
async def runs(guarded: DevServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Runs]:
    """Ada's runs on a server, none at first."""
    monkeypatch.setenv("RAS_FLOW_TOKEN", KEYS["ada"])
    async with open_runs_at(guarded.url) as runs:
        await runs.delete([run.id for run in await runs.recent(limit=1000)])
        yield runs


async def asked(runs: Runs, settings: dict[str, Any], question: str = QUESTION) -> str:
    run = runs.new_id()
    context = Context.from_mapping(settings)
    events = [event async for event in runs.start({"question": question}, context, run_id=run)]
    assert events[0] == {"type": "start", "question": question}
    return run


async def test_a_run_on_a_server_is_told_as_one_that_is_kept_here(
    runs: Runs, settings: dict[str, Any]
) -> None:
    run = await asked(runs, settings)
    stored = await runs.get(run)
    assert (stored.summary.answer, stored.summary.stop_reason) == ("Narvik", "sufficient")
    assert stored.context == Context.from_mapping(settings)
    document = await runs.document(run)
    [branch] = document["branches"]
    steps = [document["steps"][step] for step in branch["steps"]]
    hop = ["plan", "retrieve", "to_triples", "merge_graph"]
    assert [step["node"] for step in steps] == ["", "start", *hop, *hop, "plan", "answer"]
    assert [step["kind"] for step in steps] == ["question", *["node"] * 11]
    assert document["triples"][BIRTH]["object"] == "Narvik"
    assert steps[0]["parent"] is None


async def test_a_fork_with_an_edit_and_a_replay_leave_the_first_branch_as_it_was(
    runs: Runs, settings: dict[str, Any]
) -> None:
    run = await asked(runs, settings)
    before = await runs.document(run)
    step = before["branches"][0]["steps"][-2]
    events: Any = [event async for event in runs.fork(run, step, [DROP])]
    assert [event["type"] for event in events] == ["forked", "answer"]
    assert events[1]["answer"] == "elsewhere"
    replayed: Any = [event async for event in runs.fork(run, before["branches"][0]["steps"][4])]
    assert replayed[-1]["answer"] == "Narvik"
    after = await runs.document(run)
    for number, told in ((2, events), (3, replayed)):
        assert branch_with(after, told[0]["checkpoint"])["number"] == number
    assert [branch["answer"] for branch in after["branches"]] == ["Narvik", "elsewhere", "Narvik"]
    assert after["branches"][1]["forked_from"] == {"branch": 1, "step": 10}
    assert after["branches"][2]["forked_from"] == {"branch": 1, "step": 4}
    assert after["branches"][0] == before["branches"][0]
    assert {id: after["steps"][id] for id in before["steps"]} == before["steps"]
    with pytest.raises(EditError):
        [event async for event in runs.fork(run, step, [{"op": "drop_triple", "triple": "x"}])]
    assert len((await runs.document(run))["branches"]) == 3
    # The server has the key of this model, and not who asks.
    other: Edit = {"op": "model", "role": "answerer", "name": "openai:other"}
    asked_again: Any = [event async for event in runs.fork(run, step, [other])]
    assert asked_again[-1]["answer"] == "Narvik"


async def test_an_edit_waits_for_a_run_of_the_thread_that_is_at_work(
    runs: Runs, settings: dict[str, Any]
) -> None:
    run = await asked(runs, settings)
    steps = (await runs.document(run))["branches"][0]["steps"]

    async def fork(step: str, edits: list[Edit]) -> Any:
        return [event async for event in runs.fork(run, step, edits)][-1]

    told = await asyncio.gather(fork(steps[1], []), fork(steps[-2], [DROP]), fork(steps[-2], []))
    assert [event["answer"] for event in told] == ["Narvik", "elsewhere", "Narvik"]
    assert len((await runs.document(run))["branches"]) == 4


async def test_a_review_on_a_server_is_answered(runs: Runs, settings: dict[str, Any]) -> None:
    run = await asked(runs, settings | {"pause_before_answer": True})
    document = await runs.document(run)
    assert document["branches"][0]["status"] == "paused"
    review = document["steps"][document["branches"][0]["steps"][-1]]["review"]
    assert review is not None and review["point"] == "before_answer"
    step = document["branches"][0]["steps"][4]
    assert [event["type"] async for event in runs.fork(run, step)][-1] == "review"
    events: Any = [event async for event in runs.resume(run, [DROP], branch=1)]
    assert events[-1]["answer"] == "elsewhere"
    branches = (await runs.document(run))["branches"]
    assert [branch["status"] for branch in branches] == ["finished", "paused"]
    with pytest.raises(RunError, match="is finished"):
        [event async for event in runs.resume(run, branch=1)]


async def test_a_run_that_fails_on_the_server_fails_here_by_the_same_error(
    runs: Runs, guarded: DevServer, settings: dict[str, Any]
) -> None:
    written = len(guarded.log.read_text())
    run = runs.new_id()
    context = Context.from_mapping(settings | {"planner": "gpt"})
    with pytest.raises(ConfigurationError, match="provider:model"):
        [event async for event in runs.start({"question": QUESTION}, context, run_id=run)]
    assert (await runs.get(run)).next
    assert (await runs.document(run))["branches"][0]["status"] == "unfinished"
    assert "No matching runs to cancel" not in guarded.log.read_text()[written:]


async def test_what_is_unknown_or_refused_is_told(guarded: DevServer, runs: Runs) -> None:
    for run in ("a1", str(uuid4()), "../assistants", "x/y?z", ""):
        for reading in (runs.get, runs.document, runs.newest):
            with pytest.raises(RunError, match="no run"):
                await reading(run)
        with pytest.raises(RunError, match="no run"):
            await runs.delete([run])
        with pytest.raises(RunError, match="no run"):
            [event async for event in runs.resume(run)]
    async with open_server_runs(guarded.url, {"Authorization": "Bearer wrong"}) as strangers:
        with pytest.raises(AuthenticationError, match="RAS_FLOW_TOKEN"):
            await strangers.recent()
        with pytest.raises(AuthenticationError):
            [e async for e in strangers.start({"question": QUESTION}, Context())]


class Listed:
    """What a server with these threads answers to searches, while one more thread is made."""

    def __init__(self, *, whole: bool) -> None:
        self.threads = [self._thread(n, "other" if n % 3 == 0 else "ras") for n in range(350)]
        self._whole = whole

    def _thread(self, number: int, graph: str) -> dict[str, Any]:
        time = f"2026-01-02T03:{number // 60:02}:{number % 60:02}+00:00"
        metadata = {"graph_id": graph}
        return {"thread_id": str(uuid4()), "created_at": time, "metadata": metadata, "values": {}}

    def __call__(self, request: httpx.Request) -> httpx.Response:
        asked = json.loads(request.content)
        if self._whole and asked.get("select"):
            return httpx.Response(422, json={"detail": "select is not supported"})
        found = [one for one in self.threads if one["metadata"] == asked.get("metadata")]
        if asked.get("ids") and not self._whole:
            found = [one for one in found if one["thread_id"] in asked["ids"]]
        if (asked.get("sort_by"), asked.get("sort_order")) == ("created_at", "desc"):
            found.reverse()
        first = asked.get("offset", 0)
        if not first:
            self.threads.append(self._thread(len(self.threads), "ras"))
        found = found[first : first + asked.get("limit", 10)]
        names = asked.get("select") or self.threads[0].keys()
        return httpx.Response(200, json=[{name: one[name] for name in names} for one in found])


@pytest.mark.parametrize("whole", [False, True])
async def test_the_runs_of_a_graph_are_found_once_each_newest_first(whole: bool) -> None:
    """Some servers send whole threads only, and look at no ids."""
    server = Listed(whole=whole)
    expected = [
        (one["thread_id"], one["created_at"])
        for one in reversed(server.threads)
        if one["metadata"] == {"graph_id": "ras"}
    ]
    transport = httpx.MockTransport(server)
    async with httpx.AsyncClient(transport=transport, base_url="http://server") as http:
        threads = ServerThreads(LangGraphClient(http))
        assert await threads.find() == expected
        assert await threads.find(expected[5][0]) == expected[5:6]


async def test_the_command_line_works_on_a_server(
    runs: Runs, guarded: DevServer, settings: dict[str, Any]
) -> None:
    run = await asked(runs, settings)

    async def command(*arguments: str) -> Any:
        started = Command("runs", *arguments, "--database", guarded.url)
        return await asyncio.to_thread(started.wait)

    listed = await command("list", "--json")
    assert [each["run"] for each in json.loads(listed.out)] == [run], listed.err
    shown = await command("show", run)
    assert "Narvik" in shown.out and shown.code == 0
    forked = await command("fork", run, "--from", "plan:2", "--drop-triple", BIRTH)
    assert forked.code == 0 and "elsewhere" in forked.out, forked.err
    assert len((await runs.document(run))["branches"]) == 2


async def test_a_question_is_asked_of_a_server_on_the_command_line(
    runs: Runs, guarded: DevServer, settings: dict[str, Any], tmp_path: Path
) -> None:
    given = tmp_path / "Mira Lund.txt"
    given.write_text(DOCUMENTS[1]["text"])
    options = [
        "--model",
        "openai:test",
        "--base-url",
        settings["base_url"],
        "--static",
        "--loop",
        "paper",
    ]
    started = Command("ask", QUESTION, "--given", str(given), *options, "--database", guarded.url)
    done = await asyncio.to_thread(started.wait)
    assert done.code == 0 and "Answer   Narvik" in done.out, done.err
    [summary] = await runs.recent()
    assert summary.answer == "Narvik" and summary.id in done.out


OTHER_GRAPH = """
from typing import TypedDict
from langgraph.graph import StateGraph
from langgraph.types import interrupt

class State(TypedDict):
    text: str

def approve(state: State) -> State:
    return {"text": interrupt("Is this right?")}

builder = StateGraph(State).add_node(approve).add_edge("__start__", "approve")
graph = builder.compile()
"""


async def test_what_a_servers_other_graphs_keep_is_no_run_and_stays(tmp_path: Path) -> None:
    (tmp_path / "other_graph.py").write_text(OTHER_GRAPH)
    graphs = {"ras": "ras_flow.graph:graph", "other": "./other_graph.py:graph"}
    config = tmp_path / "langgraph.json"
    config.write_text(json.dumps({"dependencies": ["."], "graphs": graphs}))
    with langgraph_dev(tmp_path, tmp_path / "cache", config) as server:
        client = get_client(url=server.url)
        thread = (await client.threads.create())["thread_id"]
        await client.runs.wait(thread, "other", input={"text": "kept"})
        before = await client.threads.get_history(thread)
        async with open_server_runs(server.url) as runs:
            for reading in (runs.get, runs.document, runs.newest, runs.summary):
                with pytest.raises(RunError, match="no run"):
                    await reading(thread)
            with pytest.raises(RunError, match="no run"):
                [event async for event in runs.resume(thread, [])]
            with pytest.raises(RunError, match="no run"):
                [event async for event in runs.fork(thread, before[0]["checkpoint_id"])]
            with pytest.raises(RunError, match="no run"):
                await runs.delete([thread])
            assert await runs.recent() == []
        assert await client.threads.get_history(thread) == before
        assert (before[0]["values"], before[0]["next"]) == ({"text": "kept"}, ["approve"])


async def test_a_server_that_only_the_caller_names_gets_neither_prompt_nor_key(runs: Runs) -> None:
    own = {"planner": "openai:test", "base_url": "http://model.example/v1"}
    with pytest.raises(ConfigurationError, match="RAS_FLOW_MODEL_SERVERS"):
        await asked(runs, own)
