"""The page's API over real runs in SQLite, and over a real socket."""

from __future__ import annotations

import asyncio
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from math import inf, nan
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest
from langgraph.config import get_stream_writer
from langgraph.types import interrupt

from ras_flow import Context, Runs, build_graph, open_runs
from ras_flow.errors import AuthenticationError, ModelUnavailableError
from ras_flow.page import api, work
from ras_flow.page.export import to_html
from ras_flow.parts import AnswerRequest, Reply, ScoredPassage
from ras_flow.runs.compare import compare
from ras_flow.runs.databases.server import open_server_runs
from ras_flow.runs.export import to_graphml, to_json, to_json_ld, to_turtle
from ras_flow.runs.why import explain
from ras_flow.state.kg import triple_id
from ras_flow.testing import ListRetriever, MappingExtractor, ScriptedAnswerer
from tests.graph.world import DOCUMENTS, QUESTION, TRIPLES, read_birthplace, world
from tests.page.server import Page, serving

BIRTH = triple_id("Mira Lund", "place of birth", "Narvik")
DROP = {"op": "drop_triple", "triple": BIRTH}
SETTINGS = {"top_k": 1}
STORY = ["start", *["plan", "passages", "extracted", "graph"] * 2, "plan", "answer"]


class GatedAnswerer(ScriptedAnswerer):
    """Answers once it may."""

    def __init__(self) -> None:
        super().__init__(read_birthplace)
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
        self.asked.set()
        await self.may_answer.wait()
        return await super().answer(requests)


@asynccontextmanager
async def opened(folder: Path, **parts: Any) -> AsyncIterator[tuple[Runs, Page]]:
    async with (
        open_runs(folder, builder=build_graph(**world(**parts))) as runs,
        serving(runs) as page,
    ):
        yield runs, page


async def ask(page: Page, question: str = QUESTION, **settings: Any) -> str:
    """Ask by the page; return the run."""
    body = {"question": question, "settings": SETTINGS | settings}
    told = await page.events("api/runs", body)
    assert told[-1]["type"] == "done", told
    return str(told[0]["run"])


def at(document: Any, branch: int, next: str) -> str:
    """The last step of a branch before a node."""
    steps = document["branches"][branch - 1]["steps"]
    return [step for step in steps if document["steps"][step]["next"] == [next]][-1]


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


async def test_the_list_is_filtered(tmp_path: Path) -> None:
    async with opened(tmp_path, answerer=ScriptedAnswerer("so")) as (_, page):
        for question in ("Where is Narvik?", "Who is Leo Fahr?", "Where is Leo?"):
            await ask(page, question)

        async def listed(query: str) -> list[str]:
            return [run["question"] for run in (await page.get(f"api/runs?{query}"))["runs"]]

        assert await listed("limit=2") == ["Where is Leo?", "Who is Leo Fahr?"]
        assert await listed("text=LEO+who") == ["Who is Leo Fahr?"]
        assert await listed("stop_reason=error") == []
        assert await listed("stop_reason=sufficient&text=") == ["Where is Narvik?"]
        assert len(await listed("since=1h")) == 3 and await listed("since=2999-01-01") == []


async def test_two_forks_at_once_both_succeed_and_are_told_apart(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, page):
        run = await ask(page)
        document = await page.get(f"api/runs/{run}")
        url = f"api/fork/{run}"
        first = document["branches"][0]["steps"][2]
        last = at(document, 1, "answer")
        # From one step too, to different answers: each tab must be shown its own.
        add = {"op": "add_triple", "subject": "x", "predicate": "place of birth"}
        towns = [[DROP, {**add, "object": town}] for town in ("Oslo", "Bodø", "Moss")]
        bodies = [{"checkpoint": last, "edits": edits} for edits in [[DROP], [], *towns]]
        bodies += [{"checkpoint": first, "edits": []}] * 2
        told = await asyncio.gather(*(page.events(url, body) for body in bodies))
        after = await page.get(f"api/runs/{run}")
        assert len(after["branches"]) == 8
        assert len({events[-1]["branch"] for events in told}) == 7
        for body, events in zip(bodies, told, strict=True):
            assert events[-1]["type"] == "done", events
            branch = after["branches"][events[-1]["branch"] - 1]
            assert branch["status"] == "finished"
            assert branch["answer"] == events[-2]["answer"]
            left = branch["forked_from"]
            assert (
                after["branches"][left["branch"] - 1]["steps"][left["step"]] == body["checkpoint"]
            )


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


async def test_of_two_who_answer_one_review_the_second_is_told(tmp_path: Path) -> None:
    async with opened(tmp_path) as (_, page):
        run = await ask(page, pause_after_merge=True)
        seen = (await page.get(f"api/runs/{run}"))["branches"][0]["steps"][-1]
        body = {"edits": [], "branch": 1, "checkpoint": seen}
        told = await page.events(f"api/resume/{run}", body)
        assert [event["hop"] for event in told if event["type"] == "review"] == [1]
        [error] = await page.events(f"api/resume/{run}", body)
        assert "somebody else answered" in error["message"]
        assert (await page.get(f"api/runs/{run}"))["branches"][0]["status"] == "paused"


async def test_a_database_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    async with opened(tmp_path) as (runs, page):
        run = await ask(page)
        step = at(await page.get(f"api/runs/{run}"), 1, "answer")
        saver: Any = runs._threads.graph.checkpointer  # type: ignore[attr-defined]
        await saver.conn.execute("PRAGMA busy_timeout=0")
        other = sqlite3.connect(tmp_path / "runs.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        [error] = await page.events(f"api/fork/{run}", {"checkpoint": step, "edits": [DROP]})
        assert error["type"] == "error" and "is locked: another program" in error["message"]
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


class Talkative(ListRetriever):
    """Writes to the stream, and asks a person, as parts of one's own may."""

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        for written in ("searching", {"searched": 1}, {"type": ["x"]}, {"type": "mine", "x": inf}):
            get_stream_writer()(written)
        self.told = interrupt({"since": datetime(2026, 1, 2, tzinfo=UTC), "least": nan, 1: {2}})
        return await super().retrieve(queries, k)


async def test_parts_of_ones_own_may_write_and_ask_anything(tmp_path: Path) -> None:
    retriever = Talkative(DOCUMENTS)
    async with opened(tmp_path, retriever=retriever) as (_, page):
        told = await page.events("api/runs", {"question": QUESTION, "settings": SETTINGS})
        run = told[0]["run"]
        assert [event["type"] for event in told] == ["run", "start", "plan", "mine", "done"]
        answer = await page.client.get(f"api/runs/{run}")
        document = json.loads(answer.text, parse_constant=pytest.fail)  # As a browser reads it.
        asked = document["steps"][document["branches"][0]["steps"][-1]]["review"]
        assert asked == {"since": "2026-01-02 00:00:00+00:00", "least": "NaN", "1": "{2}"}
        for name in ("html", "json"):
            saved = await page.client.get(f"api/export/{run}?format={name}")
            assert saved.status_code == 200, name
        told = await page.events(f"api/resume/{run}", {"edits": []})
        assert retriever.told == {"edits": []} and told[-1] == {"type": "done", "branch": 1}
