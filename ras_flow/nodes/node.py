"""A node for callers of all of LangGraph's methods."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import Runtime, get_runtime
from langgraph.store.base import BaseStore, Op, Result

from ras_flow.nodes.sync_loop import run_sync
from ras_flow.settings.context import Context

Work = Callable[[Any, Runtime[Context]], Coroutine[Any, Any, dict[str, Any]]]
"""Takes the state: RAS's, or that of a graph of one's own."""


class Node(Runnable[Any, dict[str, Any]]):
    """An async function as a node that ``invoke`` and ``stream`` can run too."""

    def __init__(self, work: Work) -> None:
        self._work = work

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Run the function."""
        return await self._work(input, get_runtime(Context))

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Run the function in the event loop of sync callers."""
        runtime = get_runtime(Context)
        if runtime.store is not None:
            runtime = runtime.override(store=_SyncStore(runtime.store))
        return run_sync(self._work(input, runtime))


class _SyncStore(BaseStore):
    """A store whose sync methods are the ones that work."""

    def __init__(self, store: BaseStore) -> None:
        self._store = store

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return self._store.batch(ops)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self._store.batch, ops)
