"""The page's API over real runs in SQLite, and over a real socket."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from pathlib import Path
from urllib.parse import quote

import pytest

from ras_flow import Context, Runs, build_graph, open_runs
from ras_flow.page import api, work
from ras_flow.page.export import to_html
from ras_flow.runs.compare import compare
from ras_flow.runs.export import to_json
from ras_flow.runs.export.graphml import to_graphml
from ras_flow.runs.export.rdf import to_json_ld, to_turtle
from ras_flow.runs.why import explain
from tests.graph.world import QUESTION, world
from tests.page.asking import BIRTH, DROP, SETTINGS, GatedAnswerer, ask, at, opened

STORY = ["start", *["plan", "passages", "extracted", "graph"] * 2, "plan", "answer"]


async def test_a_question_asked_on_the_page_is_streamed_and_kept(tmp_path: Path) -> None:
    async with opened(tmp_path) as (runs, page):
        choices = await page.get("api/choices")
        assert choices["roles"] == ["planner", "extractor", "answerer"]
        assert choices["indexes"][-1] == {"name": "the demo corpus", "settings": {"index": "demo"}}
        told = await page.events("api/runs", {"question": QUESTION, "settings": SETTINGS})
        run = told[0]["run"]
        assert [event["type"] for event in told] == ["run", *STORY, "done"]
        assert told[-2]["answer"] == "Narvik" and told[-1] == {"type": "done", "branch": 1}
        assert (await runs.get(run)).context == Context(top_k=1)
        [summary] = (await page.get("api/runs"))["runs"]
        assert (summary["id"], summary["answer"]) == (run, "Narvik")


async def test_what_the_page_reads_is_what_the_library_says(tmp_path: Path) -> None:
    async with opened(tmp_path) as (runs, page):
        run = await ask(page)
        before = await page.get(f"api/runs/{run}")
        body = {"checkpoint": at(before, 1, "answer"), "edits": [DROP]}
        await page.events(f"api/fork/{run}", body)
        document = await runs.document(run)
        assert await page.get(f"api/runs/{run}") == json.loads(json.dumps(document))
        for query, branch in (("", None), ("?branch=1", 1), ("?branch=2", 2)):
            expected = json.loads(json.dumps(explain(document, branch)))
            assert await page.get(f"api/explain/{run}{query}") == expected
        expected = json.loads(json.dumps(compare(document, 1, document, 2)))
        assert await page.get("api/compare", params={"a": f"{run}/1", "b": run}) == expected
        writers = {
            "json": (to_json, "application/json"),
            "graphml": (to_graphml, "application/xml"),
            "jsonld": (to_json_ld, "application/ld+json"),
            "turtle": (to_turtle, "text/turtle; charset=utf-8"),
            "html": (to_html, "text/html; charset=utf-8"),
        }
        for name, (write, media_type) in writers.items():
            answer = await page.client.get(f"api/export/{run}?format={name}&branch=1")
            assert answer.text == write(document, 1) != write(document, 2)
            assert answer.headers["content-disposition"].startswith("attachment")
            assert answer.headers["content-type"] == media_type
        answer = await page.client.get(f"api/export/{run}?format=html")
        assert "<html" in answer.text and run in answer.text
        assert answer.headers["content-disposition"] == f'attachment; filename="{run}-2.html"'


@pytest.mark.parametrize("id", ["team/7", "team/live", "explain/export"])
async def test_a_run_whose_id_has_a_slash_is_opened(tmp_path: Path, id: str) -> None:
    async with opened(tmp_path) as (runs, page):
        given = runs.start({"question": QUESTION}, Context(top_k=1), run_id=id)
        assert [event["type"] async for event in given] == STORY
        url = quote(id, safe="")
        document = await page.get(f"api/runs/{url}")
        assert document["run"] == id
        assert (await page.get(f"api/explain/{url}"))["run"] == id
        saved = await page.client.get(f"api/export/{url}")
        assert saved.json()["run"] == id
        name = id.replace("/", "")
        assert saved.headers["content-disposition"] == f'attachment; filename="{name}-1.json"'
        assert (await page.events(f"api/live/{url}"))[-1] == {"type": "done"}
        body = {"checkpoint": at(document, 1, "answer"), "edits": [DROP]}
        assert (await page.events(f"api/fork/{url}", body))[-1] == {"type": "done", "branch": 2}
        [error] = await page.events(f"api/resume/{url}", {})
        assert f"Run {id} is finished" in error["message"]
        compared = await page.get("api/compare", params={"a": id, "b": f"{id}/1"})
        assert (compared["a"]["branch"], compared["b"]["branch"]) == (2, 1)


async def test_a_page_that_is_closed_does_not_end_the_run(tmp_path: Path) -> None:
    answerer = GatedAnswerer()
    async with opened(tmp_path, answerer=answerer) as (runs, page):
        body = {"question": QUESTION, "settings": SETTINGS}
        async with aclosing(page.stream("api/runs", body)) as told:
            run = (await anext(told))["run"]
        await asyncio.wait_for(answerer.asked.wait(), 20)
        refused = await page.client.post(f"api/resume/{run}", json={})
        assert refused.status_code == 409 and "at work" in refused.json()["error"]
        watched = asyncio.create_task(page.events(f"api/live/{run}"))
        answerer.may_answer.set()
        assert (await asyncio.wait_for(watched, 20))[-1] == {"type": "done"}
        assert (await runs.get(run)).summary.answer == "Narvik"
        assert len(answerer.requests) == 1


async def test_a_stream_says_that_it_is_still_there_while_nothing_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "SILENT_SECONDS", 0.05)
    answerer = GatedAnswerer()
    body = {"question": QUESTION, "settings": SETTINGS}
    told = []
    async with (
        asyncio.timeout(60),
        opened(tmp_path, answerer=answerer) as (_, page),
        page.client.stream("POST", "api/runs", json=body) as stream,
    ):
        async for line in stream.aiter_lines():
            told.append(line)
            if line == ": at work" and answerer.asked.is_set():
                answerer.may_answer.set()
    data = [json.loads(line.removeprefix("data: ")) for line in told if line.startswith("data")]
    assert ": at work" in told
    assert [event["type"] for event in data] == ["run", *STORY, "done"]


async def test_a_run_that_the_servers_end_cut_short_is_resumed(tmp_path: Path) -> None:
    answerer = GatedAnswerer()
    async with asyncio.timeout(60) as limit:
        async with opened(tmp_path, answerer=answerer) as (_, page):
            told = page.stream("api/runs", {"question": QUESTION, "settings": SETTINGS})
            run = (await anext(told))["run"]
            await asyncio.wait_for(answerer.asked.wait(), 20)
    assert not limit.expired(), "the end waited for an answer that never comes"
    await told.aclose()
    async with opened(tmp_path, plans=[]) as (_, page):
        document = await page.get(f"api/runs/{run}")
        assert document["branches"][0]["status"] == "unfinished"
        told_again = await page.events(f"api/resume/{run}", {})
        assert [event["type"] for event in told_again] == ["answer", "done"]
        assert told_again[0]["answer"] == "Narvik"


async def test_what_another_process_writes_is_seen_live(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "POLL_SECONDS", 0.05)
    answerer = GatedAnswerer()
    builder = build_graph(**world(answerer=answerer))
    async with opened(tmp_path) as (_, page), open_runs(tmp_path, builder=builder) as others:
        work = asyncio.create_task(_drain(others, "a"))
        await asyncio.wait_for(answerer.asked.wait(), 20)
        async with aclosing(page.stream("api/live/a")) as live:
            seen = await asyncio.wait_for(anext(live), 20)
            document = await page.get("api/runs/a")
            assert seen == {"type": "changed", "checkpoint": document["branches"][0]["steps"][-1]}
            waiting = asyncio.ensure_future(anext(live))
            await asyncio.sleep(0.3)
            assert not waiting.done(), "nothing had changed"
            answerer.may_answer.set()
            changed = await asyncio.wait_for(waiting, 20)
            assert changed["type"] == "changed" and changed != seen
            assert await asyncio.wait_for(anext(live), 20) == {"type": "done"}
        await work
        document = await page.get("api/runs/a")
        assert document["branches"][0]["steps"][-1] == changed["checkpoint"]


async def _drain(runs: Runs, run: str) -> None:
    async for _ in runs.start({"question": QUESTION}, Context(top_k=1), run_id=run):
        pass


async def test_a_review_is_answered_on_the_page(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, page):
        run = await ask(page, pause_before_answer=True)
        document = await page.get(f"api/runs/{run}")
        assert document["branches"][0]["status"] == "paused"
        asked = document["steps"][document["branches"][0]["steps"][-1]]["review"]
        assert asked["point"] == "before_answer" and BIRTH in asked["triples"]
        [error] = await page.events(f"api/resume/{run}", {})
        assert "waits for a review" in error["message"]
        assert await page.get(f"api/runs/{run}") == document
        [*_, forked] = await page.events(f"api/fork/{run}", {"checkpoint": at(document, 1, "plan")})
        assert forked == {"type": "done", "branch": 2}
        told = await page.events(f"api/resume/{run}", {"edits": [DROP], "branch": 1})
        assert told[-2]["answer"] == "elsewhere" and told[-1] == {"type": "done", "branch": 1}
        branches = (await page.get(f"api/runs/{run}"))["branches"]
        assert [branch["status"] for branch in branches] == ["finished", "paused"]
