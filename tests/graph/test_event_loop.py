"""Reading a large graph or an encoder's files takes seconds: other runs go on meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from ras_flow import Context
from ras_flow.state.kg import QueryKG
from ras_flow.state.schema import Triple
from ras_flow.support import concurrency
from ras_flow.testing import HashEncoder, ScriptedAnswerer, ScriptedPlanner
from tests.graph.world import QUESTION, SECOND, build, read_birthplace, world

THREAD = {"configurable": {"thread_id": "t1"}}


async def test_reading_the_graph_does_not_block_the_event_loop(
    saver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    turned, reads = threading.Event(), []
    read = QueryKG.from_triples

    def held(triples: Mapping[str, Triple]) -> QueryKG:
        turned.clear()
        assert turned.wait(20), "the event loop stood still for as long as a reading took"
        reads.append(len(triples))
        return read(triples)

    monkeypatch.setattr(QueryKG, "from_triples", held)
    monkeypatch.setattr(concurrency, "SMALL", -1)  # As for a large graph.
    parts = world(
        planner=ScriptedPlanner(["[SUBQ] x", SECOND], takes_soft_tokens=True),
        answerer=ScriptedAnswerer(read_birthplace, takes_soft_tokens=True),
    )
    run = asyncio.create_task(
        build(parts, checkpointer=saver).ainvoke({"question": QUESTION}, THREAD)
    )
    while not run.done():
        await asyncio.sleep(0.001)
        turned.set()
    assert (await run)["answer"] == "Narvik" and len(reads) > 5


@pytest.mark.parametrize("soft", [False, True])
async def test_reading_an_encoders_files_does_not_block_the_event_loop(
    saver: Any, soft: bool
) -> None:
    loop, asked = threading.get_ident(), set()

    class Reading(HashEncoder):
        dimension = 8  # Known of the class, as that of an encoder that reads it from its files.

        def __getattribute__(self, name: str) -> Any:
            if name in ("identity", "dimension"):
                asked.add((name, threading.get_ident() == loop))
            return super().__getattribute__(name)

        async def encode(self, texts: Sequence[str]) -> Any:
            return await HashEncoder(8).encode(texts)

    parts = world(
        planner=ScriptedPlanner(["[SUBQ] x", SECOND], takes_soft_tokens=soft), encoder=Reading()
    )
    nearest = Context(top_k=1, max_triples=1)
    await build(parts, checkpointer=saver).ainvoke({"question": QUESTION}, THREAD, context=nearest)
    assert asked == {("identity", False), ("dimension", False)}
