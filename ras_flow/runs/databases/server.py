"""Runs on a LangGraph server: its threads, through LangGraph's own client."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import Any, cast
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
from langgraph.types import Command
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import UnprocessableEntityError
from langgraph_sdk.schema import StreamPart

from ras_flow.edits.parse import check_models
from ras_flow.edits.records import Edit
from ras_flow.errors import RunError, UnknownRunError
from ras_flow.events import Event, ForkedEvent, is_event
from ras_flow.parts.chosen import Parts
from ras_flow.runs.branches import check_not_gone_on
from ras_flow.runs.databases.server_answers import (
    STATE,
    TOKEN,
    BusyThreadError,
    failure_of,
    no_server,
    objects_in,
    oldest_of,
    place_of,
    saved_of,
    thread_of,
    translate_errors,
)
from ras_flow.runs.runs import Runs
from ras_flow.runs.threads import FORKED_FROM, Saved
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasInput
from ras_flow.support.network import check_network
from ras_flow.systems import DEFAULT, system_names

_PAGE = 100
"""Threads or checkpoints that are asked for at once; some servers give no more."""

_RETRY_SECONDS = 0.5
"""How often an edit is tried again while another run of the thread is at work."""


@asynccontextmanager
async def open_server_runs(
    url: str, headers: Mapping[str, str] | None = None, *, system: str = DEFAULT
) -> AsyncIterator[Runs]:
    """Open the runs of a LangGraph server, whose graphs have their systems' names."""
    if headers is None and (token := os.environ.get(TOKEN)):
        headers = {"Authorization": f"Bearer {token}"}
    check_network()
    try:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError
        client = get_client(url=url, headers=headers)
    except (ValueError, httpx.InvalidURL):
        raise RunError(
            "The server's address is malformed: write it as https://HOST or http://HOST:PORT."
        ) from None
    async with client:
        yield Runs(ServerThreads(client, system=system))


class ServerThreads:
    """The threads of a LangGraph server that are runs, as far as the client may see them.

    Threads of graphs that are not systems known here are ignored.
    """

    def __init__(
        self, client: LangGraphClient, *, system: str = DEFAULT, parts: Parts | None = None
    ) -> None:
        self._client = client
        self.system = system
        self._parts = parts
        self._found: dict[str, str] = {}

    def new_id(self) -> str:
        """Return a fresh run id: the server takes nothing but UUIDs."""
        return str(uuid4())

    async def find(self, run_id: str | None = None) -> list[tuple[str, str]]:
        """Return id and time of every run, newest first, or of one: when its thread was made."""
        times: dict[str, str] = {}
        wanted = None
        try:
            with translate_errors():
                wanted = None if run_id is None else thread_of(run_id)
                for system in dict.fromkeys([self.system, *system_names()]):
                    for id, time in await self._find(system, wanted):
                        # Some servers look at no ids.
                        if wanted in (None, id):
                            times[id] = time
                            self._found[id] = system
        except UnknownRunError as error:
            if run_id is None:  # A server that finds nothing has not failed.
                raise no_server() from error
            return []
        return sorted(times.items(), key=lambda each: each[1], reverse=True)

    async def _find(self, system: str, wanted: str | None) -> list[tuple[str, str]]:
        found: list[tuple[str, str]] = []
        while len(found) % _PAGE == 0:
            page = await self._search(system, wanted, len(found))
            for each in objects_in(page, "thread_id", "created_at"):
                found.append((str(each["thread_id"]), f"{each['created_at']}"))
            if not page:
                break
        return found

    async def _system_of(self, run_id: str) -> str | None:
        """Return the system of a run; None if the run does not exist."""
        if thread_of(run_id) not in self._found:
            await self.find(run_id)
        return self._found.get(thread_of(run_id))

    async def _search(self, system: str, wanted: str | None, offset: int) -> Any:
        search = partial(
            self._client.threads.search,
            metadata={"graph_id": system},
            ids=None if wanted is None else [wanted],
            limit=_PAGE,
            offset=offset,
            sort_by="created_at",
            sort_order="desc",
        )
        try:
            return await search(select=["thread_id", "created_at"])
        except UnprocessableEntityError:  # aegra 0.11 refuses to leave fields out.
            return await search()

    async def state(self, run_id: str, checkpoint: str | None = None) -> Saved | None:
        """Return a checkpoint, by default the newest; None if it is missing."""
        where = None if checkpoint is None else place_of(checkpoint)
        try:
            with translate_errors():
                if not (system := await self._system_of(run_id)):
                    return None
                found: Any = await self._client.threads.get_state(
                    thread_of(run_id), checkpoint=where
                )
                [state] = objects_in([found], *STATE)
        except UnknownRunError:
            return None
        return saved_of(state, system) if state["created_at"] else None

    async def history(self, run_id: str) -> list[Saved]:
        """Return every checkpoint of a run, oldest first; none for an unknown run."""
        states: list[Any] = []
        try:
            with translate_errors():
                if not (system := await self._system_of(run_id)):
                    return []
                while len(states) % _PAGE == 0:
                    page: list[Any] = await self._client.threads.get_history(
                        thread_of(run_id), limit=_PAGE, before=oldest_of(states)
                    )
                    states += objects_in(page, *STATE)
                    if not page:
                        break
        except UnknownRunError:
            return []
        saved = [saved_of(state, system) for state in states]
        return sorted(saved, key=lambda each: each.checkpoint)

    async def update(
        self, run_id: str, checkpoint: str, values: dict[str, Any], as_node: str
    ) -> str:
        """Edit a copy of a checkpoint as if a node had; return the id of the new checkpoint.

        The server edits no thread while a run of it is at work: this waits until that is over.
        """
        copy = await self._post_state(run_id, place_of(checkpoint), None, "__copy__")
        where = {**place_of(copy), FORKED_FROM: checkpoint}
        return await self._post_state(run_id, where, values, as_node)

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

        Going on with a branch (``seen``) waits until no other run of the thread is at work, then
        checks that the branch is still as it was seen.
        """
        asked: dict[str, Any] = {}
        new = (system or self.system) if isinstance(given, dict) else None
        if isinstance(given, Command):
            asked["command"] = {"resume": given.resume}
        elif given is not None:
            asked |= {"input": dict(given), "if_not_exists": "create"}
        if checkpoint is not None:
            asked["checkpoint"] = place_of(checkpoint)
        while True:
            if seen is not None:
                await check_not_gone_on(self, run_id, seen, checkpoint)
            try:
                parts = self._stream(run_id, asked, new=new, alone=seen is not None)
                async with aclosing(parts):
                    async for part in parts:
                        if part.event == "custom" and is_event(part.data):
                            yield part.data
                break
            except BusyThreadError:
                if seen is None:
                    raise
                await asyncio.sleep(_RETRY_SECONDS)

    async def replay(self, run_id: str, checkpoint: str) -> AsyncGenerator[Event]:
        """Go on from a checkpoint; the first event names the new branch's own first checkpoint."""
        at_work: Any = None
        forked = False
        async with aclosing(self._stream(run_id, {"checkpoint": place_of(checkpoint)})) as parts:
            async for part in parts:
                if part.event == "metadata":
                    at_work = part.data["run_id"]
                elif part.event == "custom":
                    if not forked:
                        forked = True
                        first = await self._newest_of(run_id, at_work)
                        yield ForkedEvent(type="forked", checkpoint=first)
                    if is_event(part.data):
                        yield part.data

    async def check_edits(
        self, system: str, edits: Sequence[Edit], context: Context, values: Mapping[str, Any]
    ) -> None:
        """Refuse edits after which the server's graph could not go on.

        Models are checked only in the server's own process: no other knows its keys and models.
        """
        if self._parts is not None:
            await check_models(edits, context, self._parts)
        settings = values.get("context", values.get("settings")) or {}
        await self._rehearse(system, {"context": settings})

    async def delete(self, run_id: str) -> None:
        """Delete all that is stored of a run."""
        try:
            with translate_errors():
                await self._client.threads.delete(thread_of(run_id))
        except UnknownRunError:
            return

    async def _stream(
        self, run_id: str, asked: dict[str, Any], *, new: str | None = None, alone: bool = False
    ) -> AsyncGenerator[StreamPart]:
        """Run; wait for other runs of the thread, or be refused while there are any (``alone``)."""
        failure = None
        with translate_errors():
            system = new or await self._system_of(run_id)
            parts: AsyncGenerator[StreamPart] = self._client.runs.stream(  # type: ignore[assignment]
                thread_of(run_id),
                system or self.system,
                stream_mode="custom",
                durability="sync",
                multitask_strategy="reject" if alone else "enqueue",
                on_disconnect="cancel",
                **asked,
            )
            async with aclosing(parts):
                async for part in parts:
                    if part.event == "error":
                        # Not raised yet: the server cancels a run whose client leaves early.
                        failure = failure_of(cast(Mapping[str, Any], part.data))
                    else:
                        yield part
        if failure is not None:
            raise failure

    async def _rehearse(self, system: str, values: Mapping[str, Any]) -> None:
        """Let the server's graph refuse values on a thread that is thrown away.

        If it refused them only as an edit of the run, the edit's copy would stay there for good.
        """
        thread = self.new_id()
        update: dict[str, Any] = {"values": values, "as_node": "start"}
        try:
            with translate_errors():
                await self._client.threads.create(
                    thread_id=thread, graph_id=system, supersteps=[{"updates": [update]}]
                )
        finally:
            await self.delete(thread)

    async def _newest_of(self, run_id: str, at_work: str) -> str:
        """Return the newest checkpoint that one of the server's own runs wrote."""
        with translate_errors():
            [state] = await self._client.threads.get_history(
                thread_of(run_id), limit=1, metadata={"run_id": at_work}
            )
        return cast(str, state["checkpoint"]["checkpoint_id"])

    async def _post_state(
        self, run_id: str, where: Mapping[str, Any], values: Any, as_node: str
    ) -> str:
        while True:
            try:
                with translate_errors():
                    made: Any = await self._client.threads.update_state(
                        thread_of(run_id), values, as_node=as_node, checkpoint=cast(Any, where)
                    )
                return cast(str, made["checkpoint"]["checkpoint_id"])
            except BusyThreadError:
                await asyncio.sleep(_RETRY_SECONDS)
