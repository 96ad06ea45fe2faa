"""Runs that are asked for on the page, over scripted parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from ras_flow import Runs, build_graph, open_runs
from ras_flow.parts import AnswerRequest, Reply
from ras_flow.state.kg import triple_id
from ras_flow.testing import ScriptedAnswerer
from tests.graph.world import QUESTION, read_birthplace, world
from tests.page.server import Page, serving

BIRTH = triple_id("Mira Lund", "place of birth", "Narvik")
DROP = {"op": "drop_triple", "triple": BIRTH}
SETTINGS = {"top_k": 1}


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
