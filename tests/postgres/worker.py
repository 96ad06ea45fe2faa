"""One of several processes on the same database.

ADDRESS LOG RUN_ID QUESTION   asks and prints the answer
ADDRESS LOG RUN_ID            resumes and prints the answer

The planner waits while there is a file LOG.hold.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from ras_flow import Context, build_graph
from ras_flow.parts import Reply
from ras_flow.runs.databases.opening import open_runs_at
from ras_flow.testing import HashEncoder, ListRetriever
from tests.graph.world import DOCUMENTS
from tests.runs.killed import Answerer, Extractor, Log, Planner


class HeldPlanner(Planner):
    def __init__(self, log: Log, hold: Path) -> None:
        super().__init__(log)
        self._hold = hold

    async def plan(self, requests: Any) -> list[Reply]:
        self._log.finished(f"begin {len(requests[0].chain)}")
        while self._hold.exists():
            await asyncio.sleep(0.02)
        return await super().plan(requests)


async def main(address: str, path: str, run_id: str, question: str = "") -> None:
    log = Log(Path(path))
    builder = build_graph(
        planner=HeldPlanner(log, Path(f"{path}.hold")),  # type: ignore[arg-type]
        retriever=ListRetriever(DOCUMENTS),
        extractor=Extractor(log, die_at=""),
        answerer=Answerer(log),  # type: ignore[arg-type]
        encoder=HashEncoder(),
    )
    async with open_runs_at(address, builder=builder) as runs:
        if question:
            events = runs.start({"question": question}, Context(top_k=2), run_id=run_id)
        else:
            events = runs.resume(run_id)
        async for event in events:
            if event["type"] == "answer":
                sys.stdout.write(event["answer"])


def run(arguments: list[str]) -> None:
    asyncio.run(main(*arguments))
