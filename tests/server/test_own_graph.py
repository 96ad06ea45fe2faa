"""A graph and an app of somebody's own on `langgraph dev`, as docs/deploy.md has them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph.pregel.remote import RemoteGraph

from ras_flow import Context, as_tool
from ras_flow.edits.records import Edit
from ras_flow.errors import InputError
from ras_flow.runs.databases.server import open_server_runs
from tests.cli.command import Command
from tests.graph.world import QUESTION
from tests.runs.stories import events
from tests.server.dev import DevServer, langgraph_dev

pytestmark = pytest.mark.slow

GRAPH = """
from ras_flow import Context, build_graph
from ras_flow.testing import ScriptedAnswerer

parts = {{"answerer": ScriptedAnswerer("Narvik"), "defaults": Context(**{settings})}}
graph = build_graph(**parts).compile(name="ras")
"""

APP = """
from fastapi import FastAPI
from ras_flow.page.server import app as page

app = FastAPI(routes=page.routes, lifespan=page.router.lifespan_context)

@app.get("/own")
async def own() -> str:
    return "mine"
"""


@pytest.fixture(scope="module")
def own(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of the server's graph."""
    return {**settings, "max_hops": 1}


@pytest.fixture(scope="module")
def server(own: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    folder = tmp_path_factory.mktemp("own")
    (folder / "my_graph.py").write_text(GRAPH.format(settings=own))
    (folder / "web.py").write_text(APP)
    config = folder / "langgraph.json"
    lookup = Path(__file__).parents[2] / "examples" / "lookup.py"
    (folder / "lookup.py").write_text(lookup.read_text())
    graphs = {"ras": "./my_graph.py:graph", "lookup": "./lookup.py:graph"}
    names = {"graphs": graphs, "http": {"app": "./web.py:app"}}
    config.write_text(json.dumps({"dependencies": ["."], **names}))
    with langgraph_dev(folder, folder / "cache", config) as running:
        yield running


async def test_a_tools_context_leaves_the_rest_to_the_servers_graph(server: DevServer) -> None:
    tool = as_tool(RemoteGraph("ras", url=server.url), context=Context(top_k=2))
    call = {"name": tool.name, "args": {"question": QUESTION}, "id": "1", "type": "tool_call"}
    message = await tool.ainvoke(call)
    assert [len(hop["passages"]) for hop in message.artifact["hops"]] == [2]
    assert message.content.startswith("Answer: Narvik")


async def test_a_run_of_the_servers_own_graph_is_forked(server: DevServer) -> None:
    async with open_server_runs(server.url) as runs:
        run = runs.new_id()
        await events(runs.start({"question": QUESTION}, run_id=run))
        [branch] = (await runs.document(run))["branches"]
        edits: list[Edit] = [{"op": "model", "role": "answerer", "name": "openai:other"}]
        with pytest.raises(InputError, match="an object as its answerer"):
            await events(runs.fork(run, branch["steps"][4], edits))
        edits = [{"op": "model", "role": "extractor", "name": "openai:other"}]
        await events(runs.fork(run, branch["steps"][4], edits))
        assert len((await runs.document(run))["branches"]) == 2


async def test_another_system_is_served_beside_ras(
    server: DevServer, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAS_FLOW_SYSTEMS", "examples.lookup:SYSTEM")
    async with open_server_runs(server.url, system="lookup") as runs:
        run = runs.new_id()
        await events(runs.start({"question": QUESTION}, settings, run_id=run))
        [branch] = (await runs.document(run))["branches"]
        assert branch["stop_reason"] == "looked_up"
        assert run in [found.id for found in await runs.recent()]


async def test_the_page_is_served_beside_an_app_of_ones_own(server: DevServer) -> None:
    async with httpx.AsyncClient(base_url=server.url) as client:
        assert (await client.get("/own")).json() == "mine"
        assert (await client.get("/ok")).json()["ok"]
        listed = await client.get("/ras-flow/api/runs")
        assert listed.status_code == 200, listed.text


async def test_an_option_of_a_question_leaves_the_rest_to_the_servers_graph(
    server: DevServer, own: dict[str, Any]
) -> None:
    arguments = ["ask", QUESTION, "--top-k", "2", "--json", "--database", server.url]
    done = await asyncio.to_thread(Command(*arguments).wait)
    assert done.code == 0, done.err
    asked = json.loads(done.out)
    assert asked["settings"] == {**own, "top_k": 2}
    assert [len(hop["passages"]) for hop in asked["hops"]] == [2]
