"""Runs the two-hop question in a process that kills itself when a given node begins.

HOME LOG RUN_ID NODE NTH   starts a run and dies in it
HOME LOG RUN_ID            resumes it and prints the answer

HOME is a folder or the address of a database.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.runnables.config import var_child_runnable_config

from ras_flow import Context, build_graph, open_runs
from ras_flow.parts import Extraction, Reply
from ras_flow.runs.databases.opening import open_runs_at
from ras_flow.testing import HashEncoder, ListRetriever, MappingExtractor
from tests.graph.world import DOCUMENTS, QUESTION, TRIPLES, read_birthplace

CONTEXT = Context(top_k=2)


class Log:
    """Every finished model call, one line each, on disk before the call returns."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def finished(self, call: str) -> None:
        with self._path.open("a") as file:
            file.write(call + "\n")
            file.flush()
            os.fsync(file.fileno())


class Planner:
    identity = "killed:planner"
    takes_soft_tokens = True

    def __init__(self, log: Log) -> None:
        self._log = log

    async def plan(self, requests: Any) -> list[Reply]:
        [request] = requests
        hops = len(request.chain)
        self._log.finished(f"plan {hops} {request.problem}")
        if hops == 1 and request.problem is None:
            return [Reply("no label")]
        plans = ["[SUBQ] x", "[SUBQ] Where was Mira Lund born?", "[SUFFICIENT]"]
        return [Reply(plans[hops])]


class Extractor(MappingExtractor):
    def __init__(self, log: Log, die_at: str) -> None:
        super().__init__(TRIPLES, batch_size=1)
        self._log, self._die_at = log, die_at

    async def extract(self, passages: Any) -> list[Extraction]:
        title = passages[0]["title"]
        if title == self._die_at:
            await asyncio.sleep(0.5)
            os.kill(os.getpid(), signal.SIGKILL)
        self._log.finished(f"extract {title}")
        return await super().extract(passages)


class Answerer:
    identity = "killed:answerer"
    takes_soft_tokens = False

    def __init__(self, log: Log) -> None:
        self._log = log

    async def answer(self, requests: Any) -> list[Reply]:
        self._log.finished("answer")
        return [Reply(read_birthplace(requests[0]))]


class Killer(AsyncCallbackHandler):
    """Kills the process when a node begins for the given time."""

    run_inline = True

    def __init__(self, node: str, nth: int) -> None:
        self._node, self._left = node, nth

    async def on_chain_start(self, *_: Any, name: str = "", **__: Any) -> None:
        self._left -= name == self._node
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)


async def main(home: str, log_path: str, run_id: str, node: str = "", nth: str = "1") -> None:
    log = Log(Path(log_path))
    builder = build_graph(
        planner=Planner(log),  # type: ignore[arg-type]
        retriever=ListRetriever(DOCUMENTS),
        extractor=Extractor(log, die_at=node),
        answerer=Answerer(log),  # type: ignore[arg-type]
        encoder=HashEncoder(),
    )
    opened = open_runs_at(home, builder=builder) if "://" in home else None
    async with opened or open_runs(Path(home), builder=builder) as runs:
        if not node:
            async for event in runs.resume(run_id):
                if event["type"] == "answer":
                    sys.stdout.write(event["answer"])
            return
        var_child_runnable_config.set({"callbacks": [Killer(node, int(nth))]})
        async for _ in runs.start({"question": QUESTION}, CONTEXT, run_id=run_id):
            pass
        sys.exit("the node was never reached")


def run(arguments: list[str]) -> None:
    asyncio.run(main(*arguments))
