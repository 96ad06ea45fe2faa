"""`ras-flow runs view` as a process."""

from __future__ import annotations

import re
import signal
import socket
import time
from pathlib import Path

import httpx
import pytest

from ras_flow import Context, build_graph, open_runs
from tests.cli.command import Command, Done
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


def end(command: Command) -> tuple[Done, float]:
    began = time.monotonic()
    command.send(signal.SIGINT)
    return command.wait(), time.monotonic() - began


def test_the_printed_link_opens_the_run_and_ctrl_c_ends_it_at_once(run: str) -> None:
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
        done, seconds = end(command)
    assert (done.code, done.err) == (0, ""), done
    assert seconds < 1
    with pytest.raises(httpx.ConnectError):
        httpx.get(base)


async def test_a_stream_that_is_watched_does_not_hold_up_the_end(own_home: Path) -> None:
    settings = Context(top_k=1, pause_before_answer=True)
    async with open_runs(own_home, builder=build_graph(**world())) as runs:
        async for _ in runs.start({"question": QUESTION}, settings, run_id="a1"):
            pass
    command = Command("runs", "view", "--no-browser")
    base, _, fragment = link_of(command).partition("#token=")
    headers = {"Authorization": f"Bearer {fragment}"}
    async with (
        httpx.AsyncClient(base_url=base, headers=headers, timeout=20) as client,
        client.stream("GET", "api/runs/a1/live") as live,
    ):
        lines = live.aiter_lines()
        assert '"changed"' in await anext(lines)
        done, seconds = end(command)
    assert (done.code, done.err) == (0, ""), done
    assert seconds < 1


def test_an_unknown_run_and_a_taken_port_are_told_in_one_line(run: str) -> None:
    done = Command("runs", "view", "nobody", "--no-browser").wait()
    assert done.code == 1 and "no run 'nobody'" in done.err and done.err.count("\n") == 1
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = Command("runs", "view", "--no-browser", "--port", str(port)).wait()
    assert done.code == 1 and f"Port {port}" in done.err and done.err.count("\n") == 1
    assert done.out == ""
