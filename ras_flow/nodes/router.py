"""A router of conditional edges whose decision is kept where the run is cancelled meanwhile."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import RunnableConfig, RunnableLambda


class Router(RunnableLambda[Any, str]):
    """A pure function from the state to what comes next, as conditional edges take it.

    LangGraph writes what a node returned, and only then asks its router. It takes a step that is
    cancelled in between for done: resumed, the run would end without an answer. So the decision is
    made without giving way to other tasks.
    """

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> str:
        """Decide what comes next."""
        return self.func(input)
