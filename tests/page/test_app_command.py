"""`ras-flow runs view` as a process."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from ras_flow import Context, build_graph, open_runs
from ras_flow.llms.local.joining import run_in_lane
from ras_flow.parts import AnswerRequest, Reply
from ras_flow.systems import System
from ras_flow.testing import ScriptedAnswerer
from tests.cli.command import Command, Done, ras_flow_main
from tests.graph.world import QUESTION, world


@pytest.fixture
async def run(own_home: Path) -> str:
    """A finished run in the user's own folder."""
    async with open_runs(own_home, builder=build_graph(**world())) as runs:
        async for _ in runs.start({"question": QUESTION}, Context(top_k=1), run_id="a1"):
            pass
    return "a1"


def link_of(command: Command) -> str:
    command.until(lambda: command.out.exists() and "Ctrl-C" in command.out.read_text())
    found = re.search(r"http://127\.0\.0\.1:\d+/#\S+", command.out.read_text())
    assert found, command.out.read_text()
    return found.group()


def end(command: Command) -> Done:
    """Send Ctrl-C; fail where the process still waits for what would hold it up for longer."""
    command.send(signal.SIGINT)
    return command.wait(20)


def test_the_printed_link_opens_the_run_and_ctrl_c_ends_it(run: str) -> None:
    command = Command("runs", "view", f"{run}/1", "--no-browser")
    link = link_of(command)
    base, _, fragment = link.partition("#")
    given = dict(part.split("=") for part in fragment.split("&"))
    assert (given["run"], given["branch"]) == (run, "1")
    headers = {"Authorization": f"Bearer {given['token']}"}
    with httpx.Client(base_url=base, headers=headers, timeout=20) as client:
        assert '<div id="page">' in client.get("").text
        assert client.get(f"api/runs/{run}").json()["question"] == QUESTION
        assert client.get("api/runs", headers={"Authorization": ""}).status_code == 401
        done = end(command)
    assert (done.code, done.err) == (0, ""), done
    with pytest.raises(httpx.ConnectError):
        httpx.get(base)


class Stuck(ScriptedAnswerer):
    """Computes for long where nothing can interrupt it, as a local model does."""

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
        Path(os.environ["STUCK"]).touch()
        await run_in_lane(lambda: time.sleep(60))
        return await super().answer(requests)


def view_of_a_stuck_model(arguments: list[str]) -> None:
    parts = world(answerer=Stuck("too late"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(System, "builder", lambda self: build_graph(**parts))
        ras_flow_main(arguments)


@asynccontextmanager
async def run_that_is_stuck(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Command, str]]:
    """Start the page, and a run in it whose model is at work; give the run's first event, too."""
    stuck = tmp_path / "stuck"
    monkeypatch.setenv("STUCK", str(stuck))
    command = Command("runs", "view", "--no-browser", main=view_of_a_stuck_model)
    base, _, token = link_of(command).partition("#token=")
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=base, headers=headers, timeout=20) as client:
        body = {"question": QUESTION, "settings": {"top_k": 1}}
        async with client.stream("POST", "api/runs", json=body) as told:
            first = await anext(told.aiter_lines())
            command.until(stuck.exists)
            yield command, first


async def test_ctrl_c_does_not_wait_for_a_model_that_cannot_be_interrupted(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with run_that_is_stuck(tmp_path, monkeypatch) as (command, first):
        done = end(command)
    run = json.loads(first.removeprefix("data: "))["run"]
    assert done.code == 0, done
    assert done.err == f"ras-flow: interrupted. Go on with: ras-flow runs resume {run}\n"
    parts = world()
    async with open_runs(own_home, builder=build_graph(**parts)) as runs:
        told_again = [event["type"] async for event in runs.resume(run)]
        assert told_again == ["answer"] and (await runs.get(run)).summary.answer == "Narvik"
    assert parts["planner"].requests == [], "a finished call was made again"


def test_an_unknown_run_and_a_taken_port_are_told_in_one_line(run: str) -> None:
    done = Command("runs", "view", "nobody", "--no-browser").wait()
    assert done.code == 1 and "no run 'nobody'" in done.err and done.err.count("\n") == 1
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = Command("runs", "view", "--no-browser", "--port", str(port)).wait()
    assert done.code == 1 and f"Port {port}" in done.err and done.err.count("\n") == 1
    assert done.out == ""
