"""A node for callers of all of LangGraph's methods."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import Runtime, get_runtime
from langgraph.store.base import BaseStore, Op, Result

from ras_flow.nodes.sync_loop import run_sync
from ras_flow.parts.source import PartsSource

Work = Callable[[Any, Runtime[Any], PartsSource], Coroutine[Any, Any, dict[str, Any]]]
"""What a node does: it takes state, runtime and parts, and returns what changed."""


def by_loop(paper: Work, *, one_call: Work) -> Work:
    """Return the node's form in the loop that a run's settings and models decide on."""

    async def work(state: Any, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
        is_one_call = parts.loop(parts.context(state, runtime)) == "one_call"
        return await (one_call if is_one_call else paper)(state, runtime, parts)

    return work


class Node(Runnable[Any, dict[str, Any]]):
    """An async function as a node that ``invoke`` and ``stream`` can run too."""

    def __init__(self, work: Work, parts: PartsSource) -> None:
        self._work, self._parts = work, parts

    async def ainvoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Run the function."""
        return await self._work(input, get_runtime(), self._parts)

    def invoke(
        self, input: Any, config: RunnableConfig | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Run the function in the event loop of sync callers."""
        runtime = get_runtime()
        if runtime.store is not None:
            runtime = runtime.override(store=_SyncStore(runtime.store))
        return run_sync(self._work(input, runtime, self._parts))


class _SyncStore(BaseStore):
    """A store whose sync methods are the ones that work."""

    def __init__(self, store: BaseStore) -> None:
        self._store = store

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return self._store.batch(ops)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self._store.batch, ops)
