"""Runs the small evaluation in a process that kills itself when a given call begins.

FOLDER LOG CALL   starts it, and dies when a call begins that starts with CALL
FOLDER LOG        goes on to its end
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ras_flow.evaluation.runner import evaluate
from ras_flow.parts import Generation, Message
from ras_flow.parts.chosen import Parts
from tests.evaluation.running.small import Answerer, Extractor, Planner, Reader, World, config

SYSTEMS: dict[str, Any] = {
    "direct": {},
    "sure": {},
    "react": {},
    "ras": {},
    "half": {"kind": "ras_share", "share": 0.5},
}


class Log:
    """Every finished call, one line each, on disk before the call returns."""

    def __init__(self, path: Path, die_at: str) -> None:
        self._path, self._die_at = path, die_at
        self.dying = False

    async def begun(self, call: str) -> None:
        if self.dying:
            await asyncio.Event().wait()
        if self._die_at and call.startswith(self._die_at):
            self.dying = True
            # What the other workers have finished gets where it is kept.
            await asyncio.sleep(0.5)
            os.kill(os.getpid(), signal.SIGKILL)

    def finished(self, call: str) -> None:
        with self._path.open("a") as file:
            file.write(repr(call) + "\n")
            file.flush()
            os.fsync(file.fileno())


class KilledReader(Reader):
    def __init__(self, world: World, log: Log) -> None:
        super().__init__(world)
        self._log = log

    async def generate(
        self, prompts: Sequence[Sequence[Message]], *, max_new_tokens: int, stop: Sequence[str] = ()
    ) -> list[Generation]:
        system, asked = prompts[0][0]["content"], prompts[0][-1]["content"]
        await self._log.begun(f"{system[:9]} {asked.rpartition('Question: ')[2]}")
        [made] = await super().generate(prompts, max_new_tokens=max_new_tokens, stop=stop)
        if system.startswith("You read passages, each after its title in brackets, and"):
            return [Generation("1. unknown\n2. Leo Fahr", 5, 5)]
        if system.startswith("You find"):
            searched = "Observation" in asked
            return [Generation(f"Action: {'Finish' if searched else 'Search'}[bridge]", 5, 5)]
        return [made]


def parts(world: World, log: Log) -> Parts:
    def dying(base: Any, method: str, name: Any) -> Any:
        class Dying(base):  # type: ignore[misc]
            async def _call(self, requests: Any) -> Any:
                await log.begun(name(requests[0]))
                return await getattr(base, method)(self, requests)

        setattr(Dying, method, Dying._call)
        return Dying(world)

    return Parts.of(
        planner=dying(Planner, "plan", lambda r: f"plan {len(r.chain)} {r.question}"),
        retriever=world.parts.retriever,
        extractor=dying(Extractor, "extract", lambda p: f"extract {p['title']}"),
        answerer=dying(Answerer, "answer", lambda r: f"answer {r.question}"),
    )


async def main(folder: str, log_path: str, die_at: str = "") -> None:
    log = Log(Path(log_path), die_at)
    world = World(log.finished)
    settings = config(Path(folder), SYSTEMS, limits={"at_once": 3})
    report = await evaluate(
        settings, Path(folder, "out"), parts=parts(world, log), reader=KilledReader(world, log)
    )
    if die_at:
        sys.exit("the call never began")
    sys.stdout.write(f"{sum(len(one.rows) for one in report.standings)} rows")


def run(arguments: list[str]) -> None:
    asyncio.run(main(*arguments))
