"""A router of conditional edges whose decision is kept where the run is cancelled meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

from langchain_core.runnables import RunnableConfig, RunnableLambda


class Router(RunnableLambda[Any, str]):
    """A function from the state to what comes next, as LangGraph's conditional edges take it.

    LangGraph writes what a node returned, and only then asks its router, in a thread. To it a step
    that is cancelled in between is done and leads nowhere: resumed, the run would end without an
    answer. So the decision is waited for, and the run ends after it.
    """

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Decide what comes next."""
        decision = asyncio.ensure_future(super().ainvoke(input, config, **kwargs))
        cancelled = False
        while not decision.done():
            try:
                await asyncio.wait([decision])
            except asyncio.CancelledError:
                cancelled = True
        if cancelled and (task := asyncio.current_task()):
            task.cancel()
        return decision.result()
