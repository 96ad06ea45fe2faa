"""What the page asks for: runs, explanations, comparisons, exports, and streams of progress."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import asdict

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ras_flow.errors import InputError
from ras_flow.events import Event
from ras_flow.page.bodies import Asked, Forked, Resumed, read_body
from ras_flow.page.choices import OfferChoices
from ras_flow.page.forms import Form, writer_of
from ras_flow.page.work import JsonEvent, Work, failing_softly
from ras_flow.runs.address import find_address
from ras_flow.runs.compare import compare
from ras_flow.runs.document import RunDocument
from ras_flow.runs.reading import branch_with, get_branch
from ras_flow.runs.runs import Runs
from ras_flow.runs.systems import offered, stop_reasons
from ras_flow.runs.timeline import as_json
from ras_flow.runs.times import parse_time
from ras_flow.runs.why import explain
from ras_flow.state.channels import RasInput
from ras_flow.systems import find_system

OpenRuns = Callable[[Request], AbstractAsyncContextManager[Runs]]
"""Opens the runs that the sender of a request may see."""

Streaming = Callable[[AsyncIterator[bytes]], Response]
"""Makes the response that sends a stream of events."""

POLL_SECONDS = 1.0
"""How often a run that is watched live is looked at."""


class Api:
    """The page's API."""

    def __init__(
        self, open_runs: OpenRuns, choices: OfferChoices, work: Work, streaming: Streaming
    ) -> None:
        self._open = open_runs
        self._choices = choices
        self._work = work
        self._streaming = streaming

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/choices", self._choose),
            Route("/runs", self._list),
            Route("/runs", self._start, methods=["POST"]),
            # A run's id, which callers may choose, may have slashes in it: it comes last.
            Route("/explain/{run:path}", self._explain),
            Route("/export/{run:path}", self._export),
            Route("/live/{run:path}", self._live),
            Route("/fork/{run:path}", self._fork, methods=["POST"]),
            Route("/resume/{run:path}", self._resume, methods=["POST"]),
            Route("/runs/{run:path}", self._show),
            Route("/compare", self._compare),
        ]

    async def _choose(self, request: Request) -> Response:
        async with self._open(request) as runs:
            await runs.recent(limit=1)  # Whoever may see no runs is refused.
            roles = runs.settings_class.model_roles
            systems = await asyncio.to_thread(offered, runs.system)
        found = await asyncio.to_thread(self._choices)
        return await _json({**found, "roles": roles, "systems": systems})

    async def _list(self, request: Request) -> Response:
        limit = _whole(request, "limit") or 20
        if limit > 1000:
            raise InputError("limit is at most 1000; narrow the list by text or stop_reason.")
        since = request.query_params.get("since")
        async with self._open(request) as runs:
            found = await runs.recent(
                limit=limit,
                since=parse_time(since, "since") if since else None,
                text=request.query_params.get("text") or None,
                stop_reason=request.query_params.get("stop_reason") or None,
            )
        return await _json(
            {"runs": [asdict(summary) for summary in found], "stop_reasons": stop_reasons()}
        )

    async def _show(self, request: Request) -> Response:
        return await _json(await self._document(request, request.path_params["run"]))

    async def _explain(self, request: Request) -> Response:
        document = await self._document(request, request.path_params["run"])
        branch = _whole(request, "branch")
        return await _json(await asyncio.to_thread(explain, document, branch))

    async def _compare(self, request: Request) -> Response:
        named = [request.query_params.get(name, "") for name in ("a", "b")]
        if not all(named):
            raise InputError("Name two runs to compare: ?a=RUN/BRANCH&b=RUN/BRANCH.")
        sides: list[tuple[RunDocument, int]] = []
        async with self._open(request) as runs:
            for name in named:
                run, branch = await find_address(runs, name)
                document = await runs.document(run)
                sides.append((document, get_branch(document, branch)["number"]))
        (a, a_branch), (b, b_branch) = sides
        return await _json(await asyncio.to_thread(compare, a, a_branch, b, b_branch))

    async def _export(self, request: Request) -> Response:
        name = request.query_params.get("format", "json")
        if name not in Form.__members__:
            raise InputError(f"The format {name!r} is unknown: use one of {', '.join(Form)}.")
        document = await self._document(request, request.path_params["run"])
        branch = get_branch(document, _whole(request, "branch"))["number"]
        # In a thread, too: the first time it loads the writers.
        writer = await asyncio.to_thread(writer_of, Form(name))
        text = await asyncio.to_thread(writer.write, document, branch)
        safe = re.sub(r"[^A-Za-z0-9_-]", "", document["run"]) or "run"
        return Response(
            text.encode(errors="backslashreplace"),
            media_type=writer.media_type,
            headers={
                "Content-Disposition": f'attachment; filename="{safe}-{branch}.{writer.ending}"'
            },
        )

    async def _start(self, request: Request) -> Response:
        body = await read_body(request, Asked)
        # What is wrong with them is said before a run is made.
        async with self._open(request) as runs:
            kind = find_system(body.system).context if body.system else runs.settings_class
            await asyncio.to_thread(kind.from_mapping, body.settings)
            run = runs.new_id()

        async def work() -> AsyncGenerator[JsonEvent]:
            async with self._open(request) as runs:
                asked: RasInput = {"question": body.question}
                started = runs.start(asked, body.settings, run_id=run, system=body.system)
                told = False
                async for event in _to_the_end(runs, run, started, 1):
                    if not told:
                        # Only now can the run be looked at.
                        yield {"type": "run", "run": run}
                        told = True
                    yield event

        return self._stream(self._work.begin(run, work()))

    async def _fork(self, request: Request) -> Response:
        run: str = request.path_params["run"]
        body = await read_body(request, Forked)
        await self._check_edits(request, run, body.edits)

        async def work() -> AsyncGenerator[JsonEvent]:
            async with self._open(request) as runs:
                forked = runs.fork(run, body.checkpoint, body.edits)
                async for event in _to_the_end(runs, run, forked):
                    yield event

        return self._stream(self._work.begin(run, work()))

    async def _resume(self, request: Request) -> Response:
        run: str = request.path_params["run"]
        body = await read_body(request, Resumed)
        await self._check_edits(request, run, body.edits)
        if self._work.is_at_work(run):
            raise HTTPException(409, f"Run {run} is at work already: wait, or watch it live.")

        async def work() -> AsyncGenerator[JsonEvent]:
            async with self._open(request) as runs:
                resumed = runs.resume(
                    run, body.edits, branch=body.branch, checkpoint=body.checkpoint
                )
                async for event in _to_the_end(runs, run, resumed, body.branch):
                    yield event

        return self._stream(self._work.begin(run, work()))

    async def _live(self, request: Request) -> Response:
        run: str = request.path_params["run"]
        async with self._open(request) as runs:
            await runs.newest(run)  # An unknown run, or somebody else's, is refused.

        async def changes() -> AsyncGenerator[JsonEvent]:
            known = None
            async with self._open(request) as runs:
                while True:
                    newest = await runs.newest(run)
                    if newest.checkpoint != known:
                        known = newest.checkpoint
                        yield {"type": "changed", "checkpoint": known}
                    if newest.finished:
                        break
                    await asyncio.sleep(POLL_SECONDS)
            yield {"type": "done"}

        return self._stream(failing_softly(changes()))

    def _stream(self, events: AsyncGenerator[JsonEvent | None]) -> Response:
        return self._streaming(_lines(events))

    async def _check_edits(self, request: Request, run: str, edits: object) -> None:
        """Refuse malformed edits, and an unknown run or somebody else's, before anything begins."""
        async with self._open(request) as runs:
            await runs.check_edits(run, () if edits is None else edits)

    async def _document(self, request: Request, run: str) -> RunDocument:
        async with self._open(request) as runs:
            return await runs.document(run)


async def _to_the_end(
    runs: Runs, run: str, events: AsyncGenerator[Event], branch: int | None = None
) -> AsyncGenerator[JsonEvent]:
    """Pass on events, and then tell on which branch they were.

    That need not be the newest one: somebody else may have made another meanwhile.
    """
    forked = None
    async with aclosing(events):
        async for event in events:
            if event["type"] == "forked":
                forked = event["checkpoint"]
            yield as_json(event)
    document = await runs.document(run)
    if forked is not None:
        branch = branch_with(document, forked)["number"]
    yield {"type": "done", "branch": branch or document["current"]}


async def _lines(events: AsyncGenerator[JsonEvent | None]) -> AsyncGenerator[bytes]:
    async with aclosing(events):
        async for event in events:
            # Escaped beyond ASCII: text may hold half characters, which have no UTF-8.
            yield f"data: {json.dumps(event)}\n\n".encode() if event else b": at work\n\n"


async def _json(value: object) -> Response:
    text = await asyncio.to_thread(json.dumps, value, separators=(",", ":"))
    return Response(text, media_type="application/json")


def _whole(request: Request, name: str) -> int | None:
    text = request.query_params.get(name)
    if not text:
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) > 0):
        raise InputError(f"{name} must be a whole number of at least 1, not {text!r}.")
    return int(text)
