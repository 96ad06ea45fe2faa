"""The threads of a compiled graph with its checkpointer."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, nullcontext
from typing import Any, cast
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot

from ras_flow.builder import METADATA
from ras_flow.edits.parse import check_models
from ras_flow.edits.records import Edit
from ras_flow.errors import EditError, RecordError, RunError
from ras_flow.events import Event, ForkedEvent, is_event
from ras_flow.formats.text import UNSTORABLE
from ras_flow.parts.chosen import Parts
from ras_flow.runs.branches import check_not_gone_on
from ras_flow.runs.systems import system_of
from ras_flow.runs.threads import FORKED_FROM, Saved, current_values
from ras_flow.runs.times import stored_time
from ras_flow.settings.context import Context
from ras_flow.settings.limits import check_question
from ras_flow.state.channels import RasInput
from ras_flow.systems import find_system

Graph = CompiledStateGraph[Any, Any, Any, Any]

AtWork = Callable[[str, bool], AbstractAsyncContextManager[None]]
"""Marks a run, by its id, as being worked on, alone or not, for all who share the checkpointer."""


class _Serializer(JsonPlusSerializer):
    """LangGraph's, whose errors say what to do."""

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        try:
            return super().loads_typed(data)
        except (ValueError, NotImplementedError) as error:
            raise RecordError(
                f"A record among the runs cannot be read ({error}). It is damaged, or of a program "
                "that writes its own in another way, such as encrypted, and should do so in a "
                "database of its own. Other runs can be shown by their ids."
            ) from error


DATA_ONLY = _Serializer(allowed_msgpack_modules=None)
"""Reads checkpoints without calling what they name: a folder of runs may be somebody else's.
LangGraph's own serializer calls it, unless an environment variable forbids that."""


class LocalThreads:
    """The threads of a compiled graph's checkpointer that are runs, whatever their system.

    What other programs keep there is ignored.
    """

    def __init__(self, graph: Graph, at_work: AtWork = lambda run_id, alone: nullcontext()) -> None:
        self.system = _name_of(graph)
        self.graph = graph.with_config(metadata={METADATA: self.system})
        self._graphs = {self.system: self.graph}
        self._at_work = at_work

    def new_id(self) -> str:
        """Return a fresh run id: 12 hex digits."""
        return uuid4().hex[:12]

    async def find(self, run_id: str | None = None) -> list[tuple[str, str]]:
        """Return id and time of the last question of every run, or of one, newest first."""
        if run_id is not None and UNSTORABLE.search(run_id):
            return []
        where = None if run_id is None else _config(run_id)
        asked: dict[str, tuple[str, str]] = {}
        saver: Any = self.graph.checkpointer
        # The second are the roots of runs that were kept only at their end.
        for beginning in ({"source": "input"}, {"step": -2}):
            # Not every checkpointer lists the newest first; checkpoint ids sort by time.
            async for saved in saver.alist(where, filter=beginning):
                keys = saved.config["configurable"]
                if METADATA in saved.metadata and not keys.get("checkpoint_ns"):
                    found = (keys["checkpoint_id"], stored_time(saved.checkpoint["ts"]))
                    asked[keys["thread_id"]] = max(asked.get(keys["thread_id"], found), found)
        newest = sorted(asked, key=asked.__getitem__, reverse=True)
        return [(id, asked[id][1]) for id in newest]

    async def state(self, run_id: str, checkpoint: str | None = None) -> Saved | None:
        """Return a checkpoint, by default the newest; None if it is missing."""
        if not (system := await self._system_of(run_id, checkpoint)):
            return None
        graph = self._reader_of(run_id, system)
        snapshot = await graph.aget_state(_config(run_id, checkpoint))
        return _saved(snapshot, system) if snapshot.created_at else None

    async def history(self, run_id: str) -> list[Saved]:
        """Return every checkpoint of a run, oldest first; none for an unknown run."""
        system = await self._system_of(run_id)
        return [_saved(snapshot, system or "") for snapshot in await self.snapshots(run_id)]

    async def snapshots(self, run_id: str) -> list[StateSnapshot]:
        """Return every checkpoint of a run as LangGraph's snapshot, oldest first."""
        if not (system := await self._system_of(run_id)):
            return []
        graph = self._reader_of(run_id, system)
        found = [snapshot async for snapshot in graph.aget_state_history(_config(run_id))]
        return sorted(found, key=lambda step: str(step.config["configurable"]["checkpoint_id"]))

    async def update(
        self, run_id: str, checkpoint: str, values: dict[str, Any], as_node: str
    ) -> str:
        """Edit a copy of a checkpoint as if a node had; return the id of the new checkpoint.

        LangGraph stores an edit beside the work of the checkpoint that is edited. On a copy two
        people can edit the same checkpoint at once, and a run at work there is not disturbed.
        """
        graph = await self._graph_for(run_id, checkpoint)
        if as_node not in graph.nodes:
            raise EditError(
                f"This graph has no node {as_node!r}, after which an edited run of its system "
                "goes on: replay a step as it is, or edit it by the graph's own `update_state`."
            )
        copy = await graph.aupdate_state(_config(run_id, checkpoint), None, as_node="__copy__")
        config: RunnableConfig = {**copy, "metadata": {FORKED_FROM: checkpoint}}
        edited = await graph.aupdate_state(config, values, as_node=as_node)
        return cast(str, edited["configurable"]["checkpoint_id"])

    async def stream(
        self,
        run_id: str,
        given: RasInput | Command[Any] | None,
        checkpoint: str | None = None,
        *,
        seen: str | None = None,
        system: str | None = None,
    ) -> AsyncGenerator[Event]:
        """Ask a question, answer a review, or (None) go on, from a checkpoint or the newest.

        A question or a fork begins a branch. Going on with a branch (``seen``) takes the run alone.
        """
        async with self._at_work(run_id, seen is not None):
            if isinstance(given, dict):
                check_question(str(given.get("question")))  # What is refused is not stored.
                graph = self._graph_of(run_id, system or self.system)
            else:
                graph = await self._graph_for(run_id, checkpoint)
            if seen is not None:
                await check_not_gone_on(self, run_id, seen, checkpoint)
            stream: AsyncGenerator[Any] = graph.astream(  # type: ignore[assignment]
                given, _config(run_id, checkpoint), stream_mode="custom", durability="sync"
            )
            async with aclosing(stream):
                async for event in stream:
                    if is_event(event):
                        yield event

    async def replay(self, run_id: str, checkpoint: str) -> AsyncGenerator[Event]:
        """Go on from a checkpoint; the first event names the new branch's own first checkpoint."""
        graph = await self._graph_for(run_id, checkpoint)
        stream: AsyncGenerator[Any] = graph.astream(  # type: ignore[assignment]
            None,
            _config(run_id, checkpoint),
            stream_mode=["checkpoints", "custom"],
            durability="sync",
        )
        forked = False
        async with self._at_work(run_id, False), aclosing(stream):
            async for mode, event in stream:
                if mode == "custom":
                    if is_event(event):
                        yield event
                elif not forked:
                    forked = True
                    first = event["config"]["configurable"]["checkpoint_id"]
                    yield ForkedEvent(type="forked", checkpoint=first)

    async def check_edits(
        self, system: str, edits: Sequence[Edit], context: Context, values: Mapping[str, Any]
    ) -> None:
        """Refuse edits after which the graph could not go on; its routing would fail later."""
        graph = self._graphs.get(system) or find_system(system).builder().compile()
        parts: Parts = getattr(graph.builder, "parts", None) or Parts()
        await check_models(edits, context, parts)
        settings = values.get("context")
        if settings is None:  # Before `start`, which resolves them.
            settings = parts.defaults.override(values.get("settings") or {}).changed()
        parts.context({"context": settings})

    async def delete(self, run_id: str) -> None:
        """Delete all that is stored of a run."""
        saver: Any = self.graph.checkpointer
        await saver.adelete_thread(run_id)

    async def _system_of(self, run_id: str, checkpoint: str | None = None) -> str | None:
        """Return the system of a checkpoint, by default the newest; None for what is not a run."""
        if UNSTORABLE.search(run_id):
            return None
        saver: Any = self.graph.checkpointer
        saved: CheckpointTuple | None = await saver.aget_tuple(_config(run_id, checkpoint))
        # LangGraph keeps no metadata of a copy that waits for its edit.
        while saved and saved.metadata.get("source") == "fork" and METADATA not in saved.metadata:
            saved = await saver.aget_tuple(saved.parent_config) if saved.parent_config else None
        metadata: Mapping[str, Any] = saved.metadata if saved else {}
        return metadata.get(METADATA)

    async def _graph_for(self, run_id: str, checkpoint: str | None) -> Graph:
        """Return the graph that goes on with a run."""
        name = await self._system_of(run_id, checkpoint)
        return self.graph if name is None else self._graph_of(run_id, name)

    def _graph_of(self, run_id: str, name: str) -> Graph:
        if name not in self._graphs:
            self._graphs[name] = (
                system_of(run_id, name)
                .builder()
                .compile(checkpointer=self.graph.checkpointer, store=self.graph.store, name=name)
            )
        return self._graphs[name]

    def _reader_of(self, run_id: str, system: str) -> Graph:
        """Return the graph that reads a run; for an unknown system, our own reads what it can."""
        try:
            return self._graph_of(run_id, system)
        except RunError:
            return self.graph


def _name_of(graph: Graph) -> str:
    metadata: dict[str, Any] = (graph.config or {}).get("metadata") or {}
    return str(metadata.get(METADATA) or graph.get_name())


def _config(run_id: str, checkpoint: str | None = None) -> RunnableConfig:
    keys = {"thread_id": run_id}
    return {"configurable": keys if checkpoint is None else keys | {"checkpoint_id": checkpoint}}


def _saved(snapshot: StateSnapshot, system: str) -> Saved:
    # Not `snapshot.next`: it lacks nodes whose work is stored, but no checkpoint after it.
    next = tuple(task.name for task in snapshot.tasks)
    given = snapshot.tasks[0].result if next == ("__start__",) else None
    metadata: dict[str, Any] = {**(snapshot.metadata or {})}
    parent = snapshot.parent_config
    return Saved(
        system=str(metadata.get(METADATA, system)),
        checkpoint=snapshot.config["configurable"]["checkpoint_id"],
        parent=parent["configurable"]["checkpoint_id"] if parent else None,
        forked_from=metadata.get(FORKED_FROM),
        time=stored_time(snapshot.created_at),
        source=metadata.get("source"),
        step=metadata.get("step", 0),
        values=current_values(snapshot.values, next, given),
        next=next,
        interrupts=tuple(
            interrupt.value
            for task in snapshot.tasks
            for interrupt in task.interrupts
            if isinstance(interrupt.value, dict)
        ),
    )
