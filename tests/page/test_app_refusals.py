"""What the page's server refuses, and how it tells failures."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from ras_flow.errors import AuthenticationError, ModelUnavailableError
from ras_flow.parts import AnswerRequest
from ras_flow.runs.databases.server import open_server_runs
from ras_flow.testing import MappingExtractor, ScriptedAnswerer
from tests.graph.world import QUESTION, TRIPLES, read_birthplace
from tests.page.asking import DROP, SETTINGS, GatedAnswerer, ask, at, opened
from tests.page.server import Page, serving


async def test_a_database_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    async with opened(tmp_path) as (runs, page):
        run = await ask(page)
        step = at(await page.get(f"api/runs/{run}"), 1, "answer")
        saver: Any = runs._threads.graph.checkpointer  # type: ignore[attr-defined]
        await saver.conn.execute("PRAGMA busy_timeout=0")
        other = sqlite3.connect(tmp_path / "runs.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        [error] = await page.events(f"api/fork/{run}", {"checkpoint": step, "edits": [DROP]})
        assert error["type"] == "error" and "is locked" in error["message"]
        other.execute("ROLLBACK")
        other.execute("DROP TABLE checkpoints")
        other.close()
        answer = await page.client.get(f"api/runs/{run}")
        assert answer.status_code == 500 and "no such table" in answer.json()["error"]
        answer = await page.client.get(f"api/compare?a={run}/1&b={run}")
        assert answer.status_code == 500 and "no such table" in answer.json()["error"]


def delete_file(folder: Path) -> None:
    (folder / "runs.sqlite").unlink()


def replace_file(folder: Path) -> None:
    delete_file(folder)
    (folder / "runs.sqlite").touch()


@pytest.mark.parametrize("lose", [delete_file, replace_file, shutil.rmtree])
async def test_a_database_that_goes_while_the_page_is_open_is_told(
    tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    answerer, folder = GatedAnswerer(), tmp_path / "runs"
    async with opened(folder, answerer=answerer) as (_, page):
        body = {"question": QUESTION, "settings": SETTINGS}
        async with aclosing(page.stream("api/runs", body)) as told:
            run = (await anext(told))["run"]
            await asyncio.wait_for(answerer.asked.wait(), 20)
            async with aclosing(page.stream(f"api/live/{run}")) as live:
                assert (await anext(live))["type"] == "changed"
                step = (await page.get(f"api/runs/{run}"))["branches"][0]["steps"][-1]
                lose(folder)
                left = sorted(folder.iterdir()) if folder.exists() else None
                lost = [await asyncio.wait_for(anext(live), 20)]
            answerer.may_answer.set()
            lost += [event async for event in told if event["type"] == "error"]
        lost += [{"message": event["error"]} for event in await refusals(page, run, step)]
        lost += await page.events("api/runs", body)
        assert len(lost) == 9
        for event in lost:
            assert f"run database in {folder} was deleted, moved or replaced" in event["message"]
        assert (sorted(folder.iterdir()) if folder.exists() else None) == left


async def refusals(page: Page, run: str, step: str) -> list[Any]:
    """What the page answers for a run that it cannot read."""
    paths = ("runs", f"runs/{run}", f"explain/{run}", f"live/{run}")
    answers = [await page.client.get(f"api/{path}") for path in paths]
    answers.append(await page.client.post(f"api/fork/{run}", json={"checkpoint": step}))
    answers.append(await page.client.post(f"api/resume/{run}", json={}))
    assert [answer.status_code for answer in answers] == [500] * len(answers)
    return [answer.json() for answer in answers]


async def test_a_server_of_runs_that_does_not_answer_is_no_run_that_is_missing() -> None:
    async with open_server_runs("http://127.0.0.1:9") as runs, serving(runs) as page:
        for path in ("api/runs", f"api/runs/{uuid4()}", f"api/explain/{uuid4()}"):
            answer = await page.client.get(path)
            assert answer.status_code == 500 and "does not answer" in answer.json()["error"]


async def test_what_cannot_be_done_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, page):
        run = await ask(page)
        document = await page.get(f"api/runs/{run}")
        step = at(document, 1, "answer")
        for path, status, message in [
            ("api/runs/nobody", 404, "no run 'nobody'"),
            ("api/explain/nobody", 404, "no run 'nobody'"),
            ("api/live/nobody", 404, "no run 'nobody'"),
            ("api/export/nobody", 404, "no run 'nobody'"),
            (f"api/compare?a={run}/1&b=nobody", 404, "no run 'nobody'"),
            (f"api/explain/{run}?branch=7", 404, "no branch 7"),
            (f"api/compare?a={run}/1&b={run}/9", 404, "no branch 9"),
            ("api/compare?a=x", 400, "two runs"),
            (f"api/explain/{run}?branch=-1", 400, "whole number"),
            (f"api/explain/{run}?branch={'9' * 5000}", 400, "whole number"),
            ("api/runs?limit=99999", 400, "at most 1000"),
            ("api/runs?limit=٣", 400, "whole number"),
            ("api/runs?since=yesterday", 400, "since 'yesterday' is not a time: write 2h"),
            (f"api/export/{run}?format=exe", 400, "one of json"),
        ]:
            answer = await page.client.get(path)
            assert answer.status_code == status, path
            assert message in answer.json()["error"]
        for path, body, message in [
            (f"fork/{run}", {"checkpoint": "1f"}, "no step '1f'"),
            (f"fork/{run}", {"checkpoint": step, "edits": [DROP | {"triple": "x"}]}, "x"),
            (f"resume/{run}", {}, "finished"),
        ]:
            [error] = await page.events(f"api/{path}", body)
            assert error["type"] == "error" and message in error["message"]
        for path, body, message in [
            (f"fork/{run}", {}, "checkpoint"),
            (f"fork/{run}", {"checkpoint": 1}, "checkpoint"),
            (f"fork/{run}", {"checkpoint": step, "edits": [{"op": "x"}]}, "Edit 1"),
            (f"resume/{run}", {"branch": "1"}, "branch"),
            (f"resume/{run}", {"checkpoint": 1}, "checkpoint"),
            ("runs", {"question": " "}, "empty"),
            ("runs", {"question": 5}, "question"),
            ("runs", {"question": QUESTION, "settings": ["max_hops"]}, "settings"),
            ("runs", {"question": QUESTION, "settings": {"hops": 3}}, "hops"),
            ("runs", {"question": QUESTION, "settings": {"max_hops": -1}}, "max_hops"),
            ("runs", {"question": QUESTION, "documents": []}, "documents"),
        ]:
            answer = await page.client.post(f"api/{path}", json=body)
            assert answer.status_code == 400, path
            assert message in answer.json()["error"]
        for path, body in [("fork", {"checkpoint": step}), ("resume", {})]:
            answer = await page.client.post(f"api/{path}/nobody", json=body)
            assert answer.status_code == 404 and "no run 'nobody'" in answer.json()["error"]
        assert await page.get(f"api/runs/{run}") == document
        assert len((await page.get("api/runs"))["runs"]) == 1


async def test_a_failing_model_is_an_event_and_the_run_can_be_resumed(tmp_path: Path) -> None:
    def fail(_: AnswerRequest) -> str:
        raise ModelUnavailableError("The model is down; try later.")

    answerer = ScriptedAnswerer(fail)
    async with opened(tmp_path, answerer=answerer) as (_, page):
        told = await page.events("api/runs", {"question": QUESTION, "settings": SETTINGS})
        assert told[-1] == {"type": "error", "message": "The model is down; try later."}
        answerer._answer = read_birthplace
        told = await page.events(f"api/resume/{told[0]['run']}", {})
        assert told[0]["answer"] == "Narvik"


async def test_a_fault_of_the_program_shows_no_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path) as (runs, page):
        run = await ask(page)

        async def broken(**_: Any) -> Any:
            raise KeyError("inside")

        runs.recent = broken  # type: ignore[method-assign]
        answer = await page.client.get("api/runs")
        assert answer.status_code == 500
        assert "inside" not in answer.text and "log" in answer.json()["error"]
        assert answer.headers["x-content-type-options"] == "nosniff"

        async def breaks(*_: Any, **__: Any) -> Any:
            yield {"type": "plan"}
            raise KeyError("inside")

        runs.resume = breaks  # type: ignore[method-assign]
        caplog.clear()
        with pytest.raises(httpx.RemoteProtocolError):
            await page.events(f"api/resume/{run}", {})
        assert f"api/resume/{run}" in caplog.text and "KeyError: 'inside'" in caplog.text


async def test_a_server_behind_the_page_that_wants_another_key_is_not_the_pages_own_refusal(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as (runs, page):

        async def refused(**_: Any) -> Any:
            raise AuthenticationError("Set RAS_FLOW_TOKEN.")

        runs.recent = refused  # type: ignore[method-assign]
        answer = await page.client.get("api/runs")
        assert (answer.status_code, answer.json()["error"]) == (403, "Set RAS_FLOW_TOKEN.")


async def test_hostile_text_is_data(tmp_path: Path) -> None:
    hostile = "</script><script>alert(1)</script>\u202e\u0000'\"\ud83d"
    triples = TRIPLES | {"Mira Lund": f"(S> Mira Lund| P> place of birth| O> {hostile})"}
    async with opened(tmp_path, extractor=MappingExtractor(triples)) as (_, page):
        run = await ask(page)
        answer = await page.client.get(f"api/runs/{run}")
        assert answer.headers["content-type"].startswith("application/json")
        objects = [triple["object"] for triple in answer.json()["triples"].values()]
        assert any("<script>alert(1)" in text for text in objects)
        for name in ("html", "json", "graphml", "jsonld", "turtle"):
            saved = await page.client.get(f"api/export/{run}?format={name}")
            assert saved.status_code == 200, name
            assert name in ("json", "jsonld", "turtle") or "<script>alert(1)" not in saved.text
