"""The threads of a compiled graph with its checkpointer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, cast
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot

from ras_flow.edits.operations import Edit, check_models
from ras_flow.errors import EditError, RecordError, RunError
from ras_flow.events import Event, ForkedEvent, is_event
from ras_flow.formats.text import UNSTORABLE
from ras_flow.parts.chosen import Parts
from ras_flow.runs.threads import FORKED_FROM, SYSTEM, Saved, check_not_gone_on, current_values
from ras_flow.runs.times import stored_time
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasInput, RasState

Graph = CompiledStateGraph[Any, Any, Any, Any]


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
"""Reads checkpoints without calling what they name, as LangGraph's own does unless its environment
variable says otherwise: a folder of runs may be somebody else's."""

_OURS = {"plans", "hops", "passages", "triples"}
"""Delta channels by which a run is told from what another app keeps in the same checkpointer."""


class LocalThreads:
    """The threads of a compiled graph's checkpointer that are runs.

    Those of other graphs, which may embed this one, are left alone as if they were not there.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def new_id(self) -> str:
        """Return a fresh run id: 12 hex digits."""
        return uuid4().hex[:12]

    async def find(self, run_id: str | None = None) -> list[tuple[str, str]]:
        """Return id and time of the last question of every run, or of one, newest first."""
        where = None if run_id is None else _config(run_id)
        asked: dict[str, tuple[str, str]] = {}
        saver: Any = self.graph.checkpointer
        # The second are the roots of runs that were kept only at their end.
        for beginning in ({"source": "input"}, {"step": -2}):
            # Not every checkpointer lists the newest first; checkpoint ids sort by time.
            async for saved in saver.alist(where, filter=beginning):
                keys = saved.config["configurable"]
                if keys.get("checkpoint_ns"):
                    continue
                # A root says nothing yet: `state` tells whose it is.
                if "source" in beginning and not self._is_ours(saved):
                    continue
                found = (keys["checkpoint_id"], stored_time(saved.checkpoint["ts"]))
                asked[keys["thread_id"]] = max(asked.get(keys["thread_id"], found), found)
        newest = sorted(asked, key=asked.__getitem__, reverse=True)
        return [(id, asked[id][1]) for id in newest]

    async def state(self, run_id: str, checkpoint: str | None = None) -> Saved | None:
        """Return a checkpoint, by default the newest; None where there is none."""
        if not await self._is_run(run_id):
            return None
        snapshot = await self.graph.aget_state(_config(run_id, checkpoint))
        return _saved(snapshot) if snapshot.created_at else None

    async def history(self, run_id: str) -> list[Saved]:
        """Return every checkpoint of a run, oldest first; none for an unknown run."""
        return [_saved(snapshot) for snapshot in await self.snapshots(run_id)]

    async def snapshots(self, run_id: str) -> list[StateSnapshot]:
        """Return every checkpoint of a run as LangGraph's snapshot, oldest first."""
        if not await self._is_run(run_id):
            return []
        found = [snapshot async for snapshot in self.graph.aget_state_history(_config(run_id))]
        return sorted(found, key=lambda step: str(step.config["configurable"]["checkpoint_id"]))

    async def update(
        self, run_id: str, checkpoint: str, values: dict[str, Any], as_node: str
    ) -> str:
        """Edit a copy of a checkpoint as if a node had; return the id of the new checkpoint.

        LangGraph stores an edit beside the work of the checkpoint that is edited. On a copy two
        people can edit the same checkpoint at once, and a run at work there is not disturbed.
        """
        await self._check_system(run_id)
        if as_node not in self.graph.nodes:
            raise EditError(
                f"This graph has no node {as_node!r}, after which an edited run of RAS goes on: "
                "replay a step of it as it is, or edit it by the graph's own `update_state`."
            )
        copy = await self.graph.aupdate_state(_config(run_id, checkpoint), None, as_node="__copy__")
        config: RunnableConfig = {**copy, "metadata": {FORKED_FROM: checkpoint}}
        edited = await self.graph.aupdate_state(config, values, as_node=as_node)
        return cast(str, edited["configurable"]["checkpoint_id"])

    async def stream(
        self,
        run_id: str,
        given: RasInput | Command[Any] | None,
        checkpoint: str | None = None,
        *,
        seen: str | None = None,
    ) -> AsyncIterator[Event]:
        """Ask a question, answer a review, or (None) go on, from a checkpoint or the newest."""
        if not isinstance(given, dict):
            await self._check_system(run_id)
        if seen is not None:
            await check_not_gone_on(self, run_id, seen, checkpoint)
        stream: AsyncIterator[Any] = self.graph.astream(
            given, _config(run_id, checkpoint), stream_mode="custom", durability="sync"
        )
        async for event in stream:
            if is_event(event):
                yield event

    async def replay(self, run_id: str, checkpoint: str) -> AsyncIterator[Event]:
        """Go on from a checkpoint; tell the new branch's own first one before all else."""
        await self._check_system(run_id)
        stream: AsyncIterator[Any] = self.graph.astream(
            None,
            _config(run_id, checkpoint),
            stream_mode=["checkpoints", "custom"],
            durability="sync",
        )
        forked = False
        async for mode, event in stream:
            if mode == "custom":
                if is_event(event):
                    yield event
            elif not forked:
                forked = True
                first = event["config"]["configurable"]["checkpoint_id"]
                yield ForkedEvent(type="forked", checkpoint=first)

    async def check_edits(
        self, edits: Sequence[Edit], context: Context, values: Mapping[str, Any]
    ) -> None:
        """Refuse edits of a state from which the graph could not go on: its routing would."""
        parts: Parts = getattr(self.graph.builder, "parts", None) or Parts()
        await check_models(edits, context, parts)
        parts.context(cast(RasState, values))

    async def delete(self, run_id: str) -> None:
        """Delete all that is stored of a run."""
        saver: Any = self.graph.checkpointer
        await saver.adelete_thread(run_id)

    async def _is_run(self, run_id: str) -> bool:
        if UNSTORABLE.search(run_id):
            return False
        saver: Any = self.graph.checkpointer
        newest = await saver.aget_tuple(_config(run_id))
        return newest is not None and self._is_ours(newest)

    async def _check_system(self, run_id: str) -> None:
        """Refuse to go on by RAS's graph with what another system of an evaluation began."""
        saver: Any = self.graph.checkpointer
        newest = await saver.aget_tuple(_config(run_id))
        system = newest.metadata.get(SYSTEM) if newest else None
        if system and hasattr(self.graph.builder, "parts"):
            raise RunError(
                f"Run {run_id} is of an evaluation's system {system!r}, and would go on as RAS "
                "here: it can be shown and compared, but only the evaluation, started again (after "
                "a failure with --retry), goes on with it."
            )

    def _is_ours(self, saved: CheckpointTuple) -> bool:
        # A checkpoint's metadata counts the steps since each delta channel was last stored whole;
        # where it has just been, it is among the values instead.
        counted = saved.metadata.get("counters_since_delta_snapshot", {})
        written = saved.checkpoint["channel_versions"]
        # A parent's state may have all of our channels, and then has more; so may that of an
        # evaluation's system, which says whose it is.
        state = {name for name in written if not name.startswith(("__", "branch:"))}
        return _OURS <= {*counted, *saved.checkpoint["channel_values"]} and (
            SYSTEM in saved.metadata or state <= self.graph.channels.keys()
        )


def _config(run_id: str, checkpoint: str | None = None) -> RunnableConfig:
    keys = {"thread_id": run_id}
    return {"configurable": keys if checkpoint is None else keys | {"checkpoint_id": checkpoint}}


def _saved(snapshot: StateSnapshot) -> Saved:
    # Not `snapshot.next`: it lacks nodes whose work is stored, but no checkpoint after it.
    next = tuple(task.name for task in snapshot.tasks)
    given = snapshot.tasks[0].result if next == ("__start__",) else None
    metadata: dict[str, Any] = {**(snapshot.metadata or {})}
    parent = snapshot.parent_config
    return Saved(
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
