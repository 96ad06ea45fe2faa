"""kill -9 in the second round of T²RAG: the run resumes, and no finished call is made again."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from langchain_core.runnables.config import var_child_runnable_config

from ras_flow.runs.databases.opening import open_runs_at
from ras_flow.t2rag.graph import build_t2rag
from ras_flow.t2rag.settings import T2Context
from ras_flow.testing import ScriptedAnswerer, ScriptedModel
from tests.cli.command import Command, Done
from tests.runs.killed import Killer, Log
from tests.t2rag.world import CLUES, QUESTION, ROUNDS, compare, read, world


async def main(home: str, log_path: str, node: str = "") -> None:
    log = Log(Path(log_path))

    def logged(role: str, reply: Callable[[str], str]) -> ScriptedModel:
        def made(view: str) -> str:
            log.finished(f"{role} {view!r}")
            return reply(view)

        return ScriptedModel(made)

    parts = world(
        planner=logged("decompose", lambda _: CLUES),
        resolver=logged("resolve", read),
        answerer=ScriptedAnswerer(compare),
    )
    async with open_runs_at(home, builder=build_t2rag(**parts), new=bool(node)) as runs:
        if node:
            var_child_runnable_config.set({"callbacks": [Killer(node, 2)]})
            async for _ in runs.start({"question": QUESTION}, T2Context(**ROUNDS), run_id="a"):
                pass
            sys.exit("the node was never reached")
        async for event in runs.resume("a"):
            if event["type"] == "answer":
                sys.stdout.write(event["answer"])


def run(arguments: list[str]) -> None:
    asyncio.run(main(*arguments))


def process(*arguments: str) -> Done:
    return Command(*arguments, main=run).wait()


@pytest.mark.parametrize("node", ["retrieve", "resolve"])
def test_a_run_killed_in_its_second_round_repeats_no_finished_call(
    node: str, tmp_path: Path
) -> None:
    home, log = str(tmp_path / "home"), tmp_path / "calls.log"
    died = process(home, str(log), node)
    assert died.code == -signal.SIGKILL, died.err
    before = log.read_text().splitlines()
    assert len(before) == 2, "it was killed after one round"
    resumed = process(home, str(log))
    assert (resumed.code, resumed.out) == (0, "Northern Light"), resumed.err
    calls = log.read_text().splitlines()
    assert calls[:2] == before and len(calls) == len(set(calls)) == 3
