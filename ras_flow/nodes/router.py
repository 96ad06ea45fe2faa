"""A router of conditional edges whose decision is kept where the run is cancelled meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.runnables.config import ensure_config, set_config_context


class Router(RunnableLambda[Any, str]):
    """A function from the state to what comes next, as LangGraph's conditional edges take it.

    LangGraph writes what a node returned, and only then asks its router. To it a step that is
    cancelled in between is done and leads nowhere: resumed, the run would end without an answer. So
    the decision is made without giving way to other tasks, or, in a thread, waited for.
    """

    def __init__(self, decide: Callable[[Any], str], *, blocks: bool = False) -> None:
        super().__init__(decide)
        self._blocks = blocks

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Decide what comes next."""
        if not self._blocks:
            with set_config_context(ensure_config(config)) as context:
                return context.run(self.func, input)
        decision = asyncio.ensure_future(super().ainvoke(input, config, **kwargs))
        cancelled = None
        while not decision.done():
            try:
                await asyncio.wait([decision])
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled and (task := asyncio.current_task()):
            # Once, and as it was asked for: timeouts tell their own cancellation by both.
            task.uncancel()
            task.cancel(*cancelled.args)
        return decision.result()
