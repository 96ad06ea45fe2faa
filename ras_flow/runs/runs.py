"""Start, resume, list and show runs, over any checkpointer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, cast
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot

from ras_flow.context import Context
from ras_flow.errors import ConfigurationError, RunError
from ras_flow.events import Event
from ras_flow.state.channels import RasInput, RasOutput, RasState

Builder = StateGraph[RasState, Context, RasInput, RasOutput]
Graph = CompiledStateGraph[RasState, Context, RasInput, RasOutput]

_INTERNAL = {"documents", "extracted", "encoding"}
_ASKED = {"source": "input"}
"""Metadata of the checkpoints at which a question was asked."""


@dataclass(frozen=True)
class RunSummary:
    """One line about a run.

    Attributes:
        id: The run's id, which is its thread's id.
        started: When its question was asked, ISO 8601, UTC.
        question: The question.
        stop_reason: Why it answered; None while it is unfinished.
        answer: The answer; empty while it is unfinished.
    """

    id: str
    started: str
    question: str
    stop_reason: str | None
    answer: str


@dataclass(frozen=True)
class StoredRun:
    """A run as its last checkpoint holds it.

    Attributes:
        summary: The line about it.
        context: The settings it ran with.
        state: Its state.
        next: The nodes of the next step; empty when it is finished.
    """

    summary: RunSummary
    context: Context
    state: RasState
    next: tuple[str, ...]

    def result(self) -> dict[str, Any]:
        """Return the run as one JSON-like object."""
        kept = {name: value for name, value in self.state.items() if name not in _INTERNAL}
        return {"run": self.summary.id, **kept}


class Runs:
    """Runs of one compiled graph.

    Args:
        graph: Compiled with a checkpointer.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def start(
        self, given: RasInput, context: Context, *, run_id: str | None = None
    ) -> AsyncIterator[Event]:
        """Run a question; every step is on disk before the next begins.

        Args:
            given: The question, and what comes with it.
            context: Settings.
            run_id: The run's id; made if not given.

        Yields:
            Progress events; the last is the answer.

        Raises:
            RasFlowError: The run failed. What it did before is kept, and it can be resumed.
        """
        given = {**given, "settings": context.changed()}
        async for event in self._stream(given, _config(run_id or new_run_id())):
            yield event

    async def resume(self, run_id: str) -> AsyncIterator[Event]:
        """Go on with an unfinished run; no finished model call is made again.

        Args:
            run_id: The run's id.

        Yields:
            Progress events of what is left.

        Raises:
            RunError: There is no such run, or it is finished.
            RasFlowError: The run failed again.
        """
        stored = await self.get(run_id)
        if not stored.next:
            raise RunError(f"Run {run_id} is finished; show it with: ras-flow runs show {run_id}")
        async for event in self._stream(None, _config(run_id)):
            yield event

    async def get(self, run_id: str) -> StoredRun:
        """Return a run.

        Args:
            run_id: The run's id.

        Returns:
            The run with its full state.

        Raises:
            RunError: There is no such run, or a newer version of ras_flow wrote its settings.
        """
        snapshot = await self._graph.aget_state(_config(run_id))
        if not snapshot.created_at:
            raise RunError(f"There is no run {run_id!r}. List the runs with: ras-flow runs list")
        return StoredRun(
            summary=await self._summary(run_id, snapshot),
            context=_context(run_id, snapshot),
            state=cast(RasState, snapshot.values),
            # Not `snapshot.next`: it lacks nodes whose work is stored, but no checkpoint after it.
            next=tuple(task.name for task in snapshot.tasks),
        )

    async def recent(self, *, limit: int = 20) -> list[RunSummary]:
        """Return the newest runs.

        Args:
            limit: How many at most.

        Returns:
            One summary a run, that of the newest question first.
        """
        asked: dict[str, str] = {}
        # Not every checkpointer lists the newest first; checkpoint ids sort by time.
        async for saved in self._saver().alist(None, filter=_ASKED):
            keys = saved.config["configurable"]
            run_id = keys["thread_id"]
            asked[run_id] = max(asked.get(run_id, ""), keys["checkpoint_id"])
        newest = sorted(asked, key=asked.__getitem__, reverse=True)[:limit]
        return [
            await self._summary(run_id, await self._graph.aget_state(_config(run_id)))
            for run_id in newest
        ]

    async def history(self, run_id: str) -> list[StateSnapshot]:
        """Return every step of a run, first to last, as LangGraph's snapshots.

        Each snapshot's ``config`` can be passed to ``ainvoke(None, config)`` to replay from it, or
        to ``aupdate_state`` to fork.

        Raises:
            RunError: There is no such run.
        """
        steps = [step async for step in self._graph.aget_state_history(_config(run_id))]
        if not steps:
            raise RunError(f"There is no run {run_id!r}. List the runs with: ras-flow runs list")
        return steps[::-1]

    async def _stream(self, given: RasInput | None, config: RunnableConfig) -> AsyncIterator[Event]:
        stream: AsyncIterator[Any] = self._graph.astream(
            given, config, stream_mode="custom", durability="sync"
        )
        async for event in stream:
            yield cast(Event, event)

    async def _summary(self, run_id: str, snapshot: StateSnapshot) -> RunSummary:
        values = snapshot.values
        started = snapshot.created_at
        async for saved in self._saver().alist(_config(run_id), filter=_ASKED, limit=1):
            started = saved.checkpoint["ts"]
        # Until the first step is done, the state has the answer to the thread's last question.
        finished = not snapshot.tasks
        return RunSummary(
            id=run_id,
            started=f"{started}"[:19] + "Z",
            question=values.get("question", ""),
            stop_reason=values.get("stop_reason") if finished else None,
            answer=values.get("answer", "") if finished else "",
        )

    def _saver(self) -> Any:
        return self._graph.checkpointer


def new_run_id() -> str:
    """Return a fresh run id: 12 hex digits."""
    return uuid4().hex[:12]


def _config(run_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": run_id}}


def _context(run_id: str, snapshot: StateSnapshot) -> Context:
    try:
        return Context.from_mapping(snapshot.values.get("settings", {}))
    except ConfigurationError as error:
        raise RunError(f"The settings of run {run_id} cannot be used: {error}") from error
