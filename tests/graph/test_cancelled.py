"""A run that is cancelled at any moment goes on where it was."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ras_flow import Context
from ras_flow.parts import PlanRequest, Reply
from tests.graph.world import QUESTION, SECOND, build, world

PLANS = ["[SUBQ] x", SECOND, "[SUFFICIENT]"]


class Planner:
    """Plans by what is known, however often it is asked."""

    identity = "test:planner"
    takes_soft_tokens = False

    async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
        return [Reply(PLANS[len(request.chain)]) for request in requests]


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
