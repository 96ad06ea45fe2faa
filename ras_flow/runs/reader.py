"""Find, show and delete runs, wherever they are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import cast

from langgraph.types import StateSnapshot

from ras_flow.errors import InputError, RecordError, RunError, UnknownRunError
from ras_flow.runs.branches import find_branches
from ras_flow.runs.commands import command
from ras_flow.runs.document import RunDocument
from ras_flow.runs.local import LocalThreads
from ras_flow.runs.stored import Newest, RunSummary, StoredRun, context_of, summary_of
from ras_flow.runs.threads import Saved, Threads
from ras_flow.runs.timeline import build_document
from ras_flow.runs.times import with_zone
from ras_flow.state.channels import RasState


class StoredRuns:
    """What is kept of runs."""

    _threads: Threads

    async def get(self, run_id: str, branch: int | None = None) -> StoredRun:
        """Return a run.

        Args:
            run_id: The run's id.
            branch: The number of a branch; the one that was written last by default.

        Returns:
            The run with its full state.

        Raises:
            RunError: The run or branch does not exist, or a newer version of ras_flow wrote its
                settings.
        """
        saved = await self._state(run_id)
        if branch is not None:
            saved, _ = await self._end_of(run_id, branch, saved)
        return StoredRun(
            summary=await self._summary(run_id, saved),
            context=context_of(run_id, saved),
            state=cast(RasState, saved.values),
            next=saved.next,
        )

    async def summary(self, run_id: str) -> RunSummary:
        """Return the line about a run, whatever version of ras_flow wrote it.

        Args:
            run_id: The run's id.

        Returns:
            The line, also of a run that was deleted while it was at work and is listed no more.

        Raises:
            RunError: The run does not exist.
        """
        try:
            return await self._summary(run_id, await self._state(run_id))
        except (InputError, RecordError):
            asked = await self._threads.find(run_id)
            summary = await self._listed(run_id, asked[0][1]) if asked else None
            if summary is None:
                raise
            return summary

    async def newest(self, run_id: str) -> Newest:
        """Return how far a run is.

        Args:
            run_id: The run's id.

        Returns:
            Its newest checkpoint, and whether the run is over.

        Raises:
            RunError: The run does not exist.
        """
        saved = await self._state(run_id)
        return Newest(saved.checkpoint, not saved.next)

    async def document(self, run_id: str) -> RunDocument:
        """Return a run with all its branches.

        Args:
            run_id: The run's id.

        Returns:
            The document, of the question that the run's newest step belongs to.

        Raises:
            RunError: The run does not exist, or this version of ras_flow cannot read it.
        """
        history = await self._history(run_id)
        return await asyncio.to_thread(build_document, run_id, history)

    async def recent(
        self,
        *,
        limit: int = 20,
        text: str | None = None,
        stop_reason: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[RunSummary]:
        """Return the newest runs.

        Args:
            limit: How many at most.
            text: Words that are all in the question or the answer, in any case.
            stop_reason: Only those that stopped for this reason.
            since: Only those that were asked then or later; UTC if it has no time zone.
            until: Only those that were asked before.

        Returns:
            One summary a run, that of the newest question first.
        """
        words = (text or "").casefold().split()
        found: list[RunSummary] = []
        for run_id, asked in await self._threads.find():
            if len(found) >= limit:
                break
            time = datetime.fromisoformat(asked)
            if (since and time < with_zone(since)) or (until and time >= with_zone(until)):
                continue
            summary = await self._listed(run_id, asked)
            if summary is None:  # Deleted meanwhile.
                continue
            said = f"{summary.question}\n{summary.answer}".casefold()
            if stop_reason in (None, summary.stop_reason) and all(word in said for word in words):
                found.append(summary)
        return found

    async def delete(self, run_ids: Iterable[str]) -> None:
        """Delete runs with all their branches, for good.

        Args:
            run_ids: Their ids.

        Raises:
            RunError: The run does not exist. Nothing was deleted.
        """
        wanted = list(dict.fromkeys(run_ids))
        for run_id in wanted:
            with suppress(InputError, RecordError):  # It is there, whatever its state holds.
                await self._state(run_id)
        for run_id in wanted:
            await self._threads.delete(run_id)

    async def history(self, run_id: str) -> list[StateSnapshot]:
        """Return every step of a run, first to last, as LangGraph's snapshots.

        Each snapshot's ``config`` can be passed to ``ainvoke(None, config)`` to replay from it, or
        to ``aupdate_state`` to fork.

        Args:
            run_id: The run's id.

        Returns:
            The snapshots, of all questions and branches of the thread.

        Raises:
            RunError: The run does not exist, or it is kept on a server.
        """
        if not isinstance(self._threads, LocalThreads):
            raise RunError("Snapshots are for runs that are kept here: use `document` instead.")
        steps = await self._threads.snapshots(run_id)
        if not steps:
            raise _unknown(run_id)
        return steps

    async def _listed(self, run_id: str, asked: str) -> RunSummary | None:
        try:
            saved = await self._threads.state(run_id)
        except (InputError, RecordError):
            # LangGraph keeps a `Command(update=…)` that the state refused, and tries it ever again:
            # that, or a damaged record, must not keep the other runs from being listed.
            return RunSummary(
                run_id, f"{asked[:19]}Z", system="", question="", stop_reason=None, answer=""
            )
        return summary_of(run_id, asked, saved) if saved else None

    async def _summary(self, run_id: str, saved: Saved) -> RunSummary:
        asked = await self._threads.find(run_id)
        return summary_of(run_id, asked[0][1] if asked else saved.time, saved)

    async def _state(self, run_id: str) -> Saved:
        saved = await self._threads.state(run_id)
        if saved is None:
            raise _unknown(run_id)
        return saved

    async def _history(self, run_id: str) -> list[Saved]:
        history = await self._threads.history(run_id)
        if not history:
            raise _unknown(run_id)
        return history

    async def _end_of(self, run_id: str, branch: int, newest: Saved) -> tuple[Saved, str | None]:
        """Return the end of a branch, and its checkpoint where that is not the newest."""
        branches = find_branches(await self._history(run_id))
        if not 1 <= branch <= len(branches):
            raise UnknownRunError(
                f"Run {run_id} has no branch {branch}: its last one is {len(branches)}."
            )
        end = branches[branch - 1].steps[-1]
        return end, end.checkpoint if end.checkpoint != newest.checkpoint else None


def _unknown(run_id: str) -> UnknownRunError:
    return UnknownRunError(f"Found no run {run_id!r}. List the runs with: {command('list')}")
