"""Start, resume, fork, list, show and delete runs, wherever they are kept."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from typing import Any, cast

from langgraph.graph import StateGraph
from langgraph.types import Command

from ras_flow.edits.apply import apply_edits
from ras_flow.edits.draft import BEGINNING
from ras_flow.edits.parse import parse_edits
from ras_flow.edits.records import Edit
from ras_flow.errors import InputError, RunError, UnknownRunError
from ras_flow.events import Event, ForkedEvent
from ras_flow.formats.text import UNSTORABLE
from ras_flow.runs.commands import command
from ras_flow.runs.local import Graph, LocalThreads
from ras_flow.runs.reader import StoredRuns
from ras_flow.runs.stored import context_of
from ras_flow.runs.systems import known_system, system_of
from ras_flow.runs.threads import Saved, Threads
from ras_flow.runs.timeline import check_values
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasInput

Builder = StateGraph[Any, Any, Any, Any]
"""A graph to be compiled: RAS's, or another over :class:`ras_flow.state.channels.RunState`."""


class Runs(StoredRuns):
    """Runs of one graph.

    Args:
        home: A graph that is compiled with a checkpointer, or other threads that hold runs.
        told: Returns a context manager that turns the database's errors into RunError. A caller
            that keeps the runs open for long enters it, so as to see such errors at once.
    """

    def __init__(
        self,
        home: Graph | Threads,
        *,
        told: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self.told = told
        # A compiled graph has `stream` and `update_state` of its own, but finds no runs.
        self._threads = cast(Threads, home) if hasattr(home, "find") else LocalThreads(home)

    def new_id(self) -> str:
        """Return an id for a new run."""
        return self._threads.new_id()

    @property
    def system(self) -> str:
        """The name of the system that answers new questions."""
        return self._threads.system

    @property
    def settings_class(self) -> type[Context]:
        """The class of new runs' settings."""
        return known_system(self.system).context

    async def start(
        self,
        given: RasInput,
        context: Context | Mapping[str, Any] | None = None,
        *,
        run_id: str | None = None,
        system: str | None = None,
    ) -> AsyncGenerator[Event]:
        """Run a question; every step is written before the next begins.

        Args:
            given: The question, and what comes with it.
            context: What it names holds over the graph's own settings. None or an empty one leaves
                them to the graph.
            run_id: The run's id; made if not given.
            system: The name of another system that answers it.

        Yields:
            Progress events; the last is the answer, or what a person is asked before it.

        Raises:
            InputError: The run's id cannot be stored.
            RasFlowError: The run failed. What it did before is kept, and it can be resumed.
        """
        if run_id and UNSTORABLE.search(run_id):
            raise InputError(
                f"The run's id {run_id!r} has a NUL or half of a surrogate pair in it: choose one "
                "without, or none, to have it made."
            )
        if settings := context.given() if isinstance(context, Context) else context:
            given = {**given, "settings": dict(settings)}
        id = run_id or self.new_id()
        async with aclosing(self._threads.stream(id, given, system=system)) as events:
            async for event in events:
                yield event

    async def resume(
        self,
        run_id: str,
        edits: Sequence[Edit | Mapping[str, Any]] | None = None,
        *,
        branch: int | None = None,
        checkpoint: str | None = None,
    ) -> AsyncGenerator[Event]:
        """Go on with an unfinished run; no finished model call is made again.

        Args:
            run_id: The run's id.
            edits: What to change if the run waits for a review; an empty list approves. None for
                a run that does not wait.
            branch: Number of the branch to go on with; the newest one by default.
            checkpoint: The step whose review is answered, as the run's document names it. If
                somebody else has answered it meanwhile, nothing is done.

        Yields:
            Progress events of what is left.

        Raises:
            RunError: The run or branch is unknown, it is finished, there are edits and it waits
                for none, it waits for a review and gets no answer, or it is past ``checkpoint``.
            EditError: An edit is malformed. Nothing was changed.
            RasFlowError: The run failed again.
        """
        saved = await self._state(run_id)
        end = None
        if branch is not None:
            saved, end = await self._end_of(run_id, branch, saved)
        context_of(run_id, saved)
        if not saved.next:
            raise RunError(f"Run {run_id} is finished; show it with: {command('show', run_id)}")
        if checkpoint is not None and saved.checkpoint != checkpoint:
            raise RunError(
                f"Run {run_id} has gone on since you looked: somebody else answered its review. "
                f"Look again, with: {command('show', run_id)}"
            )
        if not saved.interrupts and edits:
            raise RunError(
                f"Run {run_id} waits for no review: resume it without edits, or edit one of its "
                f"steps with: {command('fork', run_id, options=['--from', 'STEP'])}"
            )
        answer: Command[Any] | None = None
        if saved.interrupts:
            if edits is None:
                raise RunError(
                    f"Run {run_id} waits for a review: answer it with a list of edits, an empty "
                    f"one to approve, or with: {command('resume', run_id, options=['--approve'])}"
                )
            # LangGraph stores an answer before the review sees it, half a character as "?".
            parsed = parse_edits(edits, system_of(run_id, saved.system).operations)
            answer = Command(resume={"edits": parsed})
        seen = saved.checkpoint
        async with aclosing(self._threads.stream(run_id, answer, end, seen=seen)) as events:
            async for event in events:
                yield event

    async def fork(
        self, run_id: str, checkpoint: str, edits: Sequence[Edit | Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Event]:
        """Go on from an earlier step on a branch of its own; what is there stays as it is.

        Args:
            run_id: The run's id.
            checkpoint: The step, as the run's document names it.
            edits: What to change there first; without any, the run is replayed from there.

        Yields:
            Progress events of the new branch; the first names the checkpoint that is its own.

        Raises:
            EditError: An edit is malformed or makes no sense at this step, or the model that it
                names cannot be used. Nothing was changed.
            RunError: The run or step is unknown, nothing follows it, or another version of
                ras_flow wrote it in a form that cannot be read. Nothing was changed.
            RasFlowError: The new branch failed. It is kept, and it can be resumed.
        """
        await self._state(run_id)
        saved = await self._threads.state(run_id, checkpoint)
        if saved is None:
            raise UnknownRunError(
                f"Run {run_id} has no step {checkpoint!r}. List its steps with: "
                f"{command('show', run_id, options=['--json'])}"
            )
        context = context_of(run_id, saved)
        check_values(run_id, saved.values)
        before = saved.next[0] if saved.next else ""
        asked = await self._asked_with(run_id, saved) if before in BEGINNING else {}
        if edits or asked:
            system = system_of(run_id, saved.system)
            parsed = parse_edits(edits, system.operations)
            values, as_node = saved.values | asked, "__start__"
            if parsed:
                edited = apply_edits(system, values, parsed, before)
                chosen = {k: v for k, v in edited.values.items() if k in ("context", "settings")}
                await self._threads.check_edits(system.name, parsed, context, values | chosen)
                values, as_node = edited.values, edited.as_node
            checkpoint = await self._threads.update(run_id, checkpoint, values, as_node)
            yield ForkedEvent(type="forked", checkpoint=checkpoint)
            events = self._threads.stream(run_id, None, checkpoint)
        elif saved.next:
            events = self._threads.replay(run_id, checkpoint)
        else:
            raise RunError(
                f"At this step run {run_id} was over, and nothing is left to replay: choose "
                "an earlier step, or edit this one."
            )
        async with aclosing(events):
            async for event in events:
                yield event

    async def _asked_with(self, run_id: str, saved: Saved) -> dict[str, Any]:
        """Return the settings of a question that came as a context, which LangGraph keeps nowhere.

        ``start`` stored them with the settings of its graph.
        """
        if saved.values.get("settings"):
            return {}
        history = await self._threads.history(run_id)
        later = history[[one.checkpoint for one in history].index(saved.checkpoint) + 1 :]
        resolved = [one.values["context"] for one in later if one.values.get("context")]
        return {"settings": resolved[0]} if resolved else {}

    async def check_edits(self, run_id: str, edits: object) -> None:
        """Refuse edits that are malformed, before a fork or the answer to a review begins.

        Args:
            run_id: The run's id.
            edits: A list of edits, as JSON.

        Raises:
            EditError: It is not a list, or an edit is malformed; names it by number, from 1.
            RunError: The run does not exist, or its system is unknown and there are edits.
        """
        saved = await self._state(run_id)
        if edits not in ([], ()):
            parse_edits(edits, system_of(run_id, saved.system).operations)
