"""The page on `langgraph dev` with the example's auth handler and two users."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client

from ras_flow.errors import RunError
from ras_flow.runs.databases.server import open_server_runs
from ras_flow.state.kg import triple_id
from tests.graph.world import QUESTION
from tests.page.server import Page
from tests.server.dev import KEYS, DevServer

pytestmark = pytest.mark.slow

BIRTH = triple_id("Mira Lund", "place of birth", "Narvik")
DROP = {"op": "drop_triple", "triple": BIRTH}


@pytest.fixture
async def users(guarded: DevServer) -> AsyncIterator[dict[str, Page]]:
    """The page as each user has it."""
    link = f"{guarded.url}/ras-flow/"
    async with AsyncExitStack() as stack:
        pages = {}
        for name, key in KEYS.items():
            headers = {"Authorization": f"Bearer {key}"}
            client = httpx.AsyncClient(base_url=link, headers=headers, timeout=60)
            pages[name] = Page(link, await stack.enter_async_context(client))
        yield pages


async def asked(page: Page, settings: dict[str, Any], **changes: Any) -> str:
    body = {"question": QUESTION, "settings": settings | changes}
    told = await page.events("api/runs", body)
    assert told[-1]["type"] == "done", told
    return str(told[0]["run"])


def last_step(document: Any) -> str:
    [step] = [id for id, step in document["steps"].items() if step["next"] == ["answer"]]
    return str(step)


async def test_page_and_files_are_open_and_data_wants_a_key(guarded: DevServer) -> None:
    async with httpx.AsyncClient(base_url=guarded.url) as stranger:
        moved = await stranger.get("/ras-flow")
        assert moved.headers["location"] == "ras-flow/"
        page = await stranger.get("/ras-flow/")
        assert '<div id="page">' in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert (await stranger.get("/ras-flow/main.js")).status_code == 200
        for key in (None, "Bearer wrong", f"Basic {KEYS['ada']}"):
            headers = {"Authorization": key} if key else {}
            for path in ("runs", "choices"):
                answer = await stranger.get(f"/ras-flow/api/{path}", headers=headers)
                assert answer.status_code == 401
                assert "key" in answer.json()["error"]
                assert answer.headers["cache-control"] == "no-store"


async def test_one_users_runs_never_show_for_another(
    users: dict[str, Page], guarded: DevServer, settings: dict[str, Any]
) -> None:
    ada, bo = users["ada"], users["bo"]
    run = await asked(ada, settings)
    document = await ada.get(f"api/runs/{run}")
    assert document["branches"][0]["answer"] == "Narvik"
    assert run in [each["id"] for each in (await ada.get("api/runs?limit=1000"))["runs"]]
    own = await asked(bo, settings, max_hops=1)
    assert [each["id"] for each in (await bo.get("api/runs?limit=1000"))["runs"]] == [own]

    for path in ("runs", "explain", "live", "export"):
        answer = await bo.client.get(f"api/{path}/{run}", params={"format": "html"})
        assert answer.status_code == 404, path
        assert "no run" in answer.json()["error"]
        assert QUESTION not in answer.text and "Narvik" not in answer.text
    answer = await bo.client.get("api/compare", params={"a": f"{own}/1", "b": f"{run}/1"})
    assert answer.status_code == 404
    step = last_step(document)
    for path, body in (("fork", {"checkpoint": step, "edits": [DROP]}), ("resume", {})):
        answer = await bo.client.post(f"api/{path}/{run}", json=body)
        assert answer.status_code == 404, path
        assert "no run" in answer.json()["error"]
    headers = {"Authorization": f"Bearer {KEYS['bo']}"}
    async with open_server_runs(guarded.url, headers) as runs:
        assert [each.id for each in await runs.recent()] == [own]
        for reading in (runs.get, runs.document, runs.newest):
            with pytest.raises(RunError, match="no run"):
                await reading(run)
        with pytest.raises(RunError, match="no run"):
            await runs.delete([own, run])
        assert (await runs.get(own)).next == ()
    assert await ada.get(f"api/runs/{run}") == document


async def test_pages_of_other_sites_are_refused_even_with_a_key(
    users: dict[str, Page], settings: dict[str, Any]
) -> None:
    ada = users["ada"]
    before = await ada.get("api/runs?limit=1000")
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        body = {"question": QUESTION, "settings": settings}
        assert (await ada.client.post("api/runs", json=body, headers=headers)).status_code == 403
        assert (await ada.client.get("api/runs", headers=headers)).status_code == 403
    assert await ada.get("api/runs?limit=1000") == before


async def test_the_servers_own_routes_are_as_they_were(
    guarded: DevServer, settings: dict[str, Any]
) -> None:
    headers = {"Authorization": f"Bearer {KEYS['bo']}"}
    async with get_client(url=guarded.url, api_key=None, headers=headers) as client:
        thread = (await client.threads.create())["thread_id"]
        given = {"question": QUESTION}
        result: Any = await client.runs.wait(thread, "ras", input=given, context=settings)
        assert result["answer"] == "Narvik"
        await client.threads.delete(thread)
    async with httpx.AsyncClient(base_url=guarded.url) as stranger:
        assert (await stranger.get("/ok")).json()["ok"] is True
        assert (await stranger.post("/runs/wait", json={"assistant_id": "ras"})).status_code == 401
        assert (await stranger.post("/threads/search", json={})).status_code == 401


async def test_nothing_blocked_the_event_loop(
    users: dict[str, Page], guarded: DevServer, settings: dict[str, Any]
) -> None:
    ada = users["ada"]
    written = len(guarded.log.read_text())
    run = await asked(ada, settings)
    for name in ("json", "graphml", "jsonld", "turtle", "html"):
        answer = await ada.client.get(f"api/export/{run}?format={name}")
        assert answer.status_code == 200, answer.text
    assert json.dumps(await ada.get(f"api/explain/{run}"))
    log = guarded.log.read_text()
    assert "Background run succeeded" in log
    for word in ("Blocking call", "BlockingError", "Unable to parse docstring"):
        assert word not in log
    # Since this test began: on the same server other tests let runs fail.
    assert "Traceback" not in log[written:]
