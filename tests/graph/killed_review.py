"""Takes one step of a reviewed run in a process that may kill itself.

HOME ask event            asks the question and dies when the stream says that the run waits
HOME ask waiting          dies when the run has come to wait
HOME ask                  prints what is asked
HOME answer NODE          drops the birthplace and dies when NODE begins
HOME answer               drops the birthplace and prints the answer
HOME go                   goes on without an answer; prints the answer, or what is asked
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from langgraph.types import Command

from ras_flow import build_graph, open_runs
from ras_flow.state.kg import triple_id
from tests.graph.world import QUESTION, SECOND, ScriptedPlanner, world

THREAD: Any = {"configurable": {"thread_id": "t"}}
SETTINGS = {"top_k": 1, "pause_before_answer": True}
DROP = {"op": "drop_triple", "triple": triple_id("Mira Lund", "place of birth", "Narvik")}
GIVEN: dict[str, Any] = {
    "ask": {"question": QUESTION, "settings": SETTINGS},
    "answer": Command(resume={"edits": [DROP]}),
    "go": None,
}


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


async def main(home: str, step: str, at: str = "") -> None:
    plans = ["[SUBQ] x", SECOND] if step == "ask" else []
    builder = build_graph(**world(planner=ScriptedPlanner(plans)))
    async with open_runs(Path(home), builder=builder) as runs:
        graph: Any = runs._threads.graph
        modes: Any = ["custom", "tasks"]
        async for mode, data in graph.astream(
            GIVEN[step], THREAD, stream_mode=modes, durability="sync"
        ):
            if mode == "custom" and data["type"] == "review" and at == "event":
                die()
            if mode == "tasks" and data["name"] == at and "input" in data:
                die()
        if at == "waiting":
            die()
        state = await graph.aget_state(THREAD)
        waits = [one.value["point"] for task in state.tasks for one in task.interrupts]
        sys.stdout.write(waits[0] if waits else state.values["answer"])


def run(arguments: list[str]) -> None:
    asyncio.run(main(*arguments))
