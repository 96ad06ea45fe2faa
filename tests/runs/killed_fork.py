"""Edits run "a" in a process that kills itself: HOME CHECKPOINT TRIPLE copied|edited|answer."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

from ras_flow import build_graph, open_runs
from ras_flow.parts import AnswerRequest
from ras_flow.testing import ScriptedAnswerer
from tests.graph.world import world
from tests.runs.stories import drop, events


def die(request: AnswerRequest | None = None) -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


async def main(home: str, checkpoint: str, triple: str, when: str) -> None:
    builder = build_graph(**world([], answerer=ScriptedAnswerer(die)))
    async with open_runs(Path(home), builder=builder) as runs:
        graph: Any = runs._threads.graph  # type: ignore[attr-defined]
        update = graph.aupdate_state

        async def update_and_die(config: Any, values: Any, as_node: str) -> Any:
            made = await update(config, values, as_node=as_node)
            if (when == "copied") == (as_node == "__copy__") and when != "answer":
                die()
            return made

        graph.aupdate_state = update_and_die
        await events(runs.fork("a", checkpoint, drop(triple)))


def run(arguments: list[str]) -> None:
    asyncio.run(main(*arguments))
