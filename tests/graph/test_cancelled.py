"""A run that is cancelled at any moment goes on where it was."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

from ras_flow import Context
from ras_flow.parts import PlanRequest, Reply
from tests.graph.world import QUESTION, SECOND, build, world

PLANS = ["[SUBQ] x", SECOND, "[SUFFICIENT]"]
TYPES = ["start", *["plan", "passages", "extracted", "graph"] * 2, "plan", "answer"]
THREAD: Any = {"configurable": {"thread_id": "t"}}


class Planner:
    """Plans by what is known, however often it is asked."""

    identity = "test:planner"
    takes_soft_tokens = False

    async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
        return [Reply(PLANS[len(request.chain)]) for request in requests]


@pytest.mark.parametrize("last", range(len(TYPES)))
async def test_who_leaves_the_stream_after_any_event_can_go_on(saver: Any, last: int) -> None:
    graph = build(world(planner=Planner()), checkpointer=saver)
    seen = []
    stream = graph.astream(
        {"question": QUESTION}, THREAD, context=Context(top_k=1), stream_mode="custom"
    )
    async for event in stream:
        seen.append(event["type"])
        if len(seen) > last:
            break
    await stream.aclose()
    assert seen == TYPES[: last + 1]
    result = await graph.ainvoke(None, THREAD)
    assert (result["answer"], result["stop_reason"]) == ("Narvik", "sufficient")


async def test_a_run_that_is_cancelled_at_any_moment_can_go_on(saver: Any) -> None:
    graph = build(world(planner=Planner()), checkpointer=saver)
    for turns in range(0, 400, 20):
        config: Any = {"configurable": {"thread_id": str(turns)}}
        run = asyncio.ensure_future(
            graph.ainvoke({"question": QUESTION}, config, context=Context(top_k=1))
        )
        for _ in range(turns):
            await asyncio.sleep(0)
        run.cancel()
        with suppress(asyncio.CancelledError):
            await run
        if not (await graph.aget_state(config)).created_at:
            continue  # It was cancelled before its first checkpoint.
        result = await graph.ainvoke(None, config)
        assert result["answer"] == "Narvik", turns
