"""A server with the page and a canned API, so that a test decides what every answer is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ras_flow.page import STATIC
from ras_flow.page.access import CONTENT_SECURITY_POLICY
from ras_flow.runs.document import RunDocument
from ras_flow.runs.systems import stop_reasons

TOKEN = "canned-token"


class CannedServer:
    """Answers from ``documents``; what the page sends is in ``requests``.

    Attributes:
        documents: The runs by id; a test may change them at any time.
        requests: Method, path, query and body of every request to the API, in order.
        stream: The events of the next streamed answer; None in it waits for :attr:`gate`,
            and one of the type ``break`` breaks the connection off.
        then: The document that the streamed answer's run has once ``gate`` is passed.
        gate: Lets a streamed answer go on.
        choices: What a new question may be asked of.
        error: If given, the status and the message of every answer of the API.
        ready: While it is not set, no answer of the API begins.
    """

    def __init__(self, documents: Sequence[RunDocument]) -> None:
        self.documents = {document["run"]: document for document in documents}
        self.requests: list[tuple[str, str, dict[str, str], Any]] = []
        self.stream: list[dict[str, Any] | None] = []
        self.then: RunDocument | None = None
        self.gate = asyncio.Event()
        self.live = asyncio.Queue[dict[str, Any]]()
        self.error: tuple[int, str] | None = None
        self.ready = asyncio.Event()
        self.ready.set()
        self.address = ""
        self.choices: dict[str, Any] = {
            "indexes": [
                {"name": "handbook: 13 documents", "settings": {"index": "/srv/handbook"}},
                {"name": "demo", "settings": {"index": "demo"}},
            ],
            "graphs": [
                {"name": "the demo graph", "settings": {"kg": "demo"}},
                {"name": "films", "settings": {"kg": "/srv/films"}},
            ],
            "models": ["openai:gpt-x"],
            "tasks": ["short_qa", "yes_no"],
            "roles": ["planner", "extractor", "answerer"],
            "systems": [
                {"name": "ras", "about": "", "roles": ["planner", "extractor", "answerer"]},
                {"name": "t2rag", "about": "", "roles": ["planner", "resolver"]},
                {"name": "reg", "about": "", "roles": ["answerer"], "of": "graphs"},
            ],
            "own": {"model": "local:default", "task": "short_qa"},
            "free": True,
        }

    def sent(self, method: str, path: str) -> list[Any]:
        """Return the bodies of the requests to a path."""
        return [body for how, where, _, body in self.requests if (how, where) == (method, path)]

    def app(self) -> Starlette:
        """Return the application."""
        api = [
            Route("/choices", self._choices),
            Route("/runs", self._list),
            Route("/runs", self._streamed, methods=["POST"]),
            Route("/runs/{run}", self._document),
            Route("/live/{run}", self._live),
            Route("/export/{run}", self._export),
            Route("/fork/{run}", self._streamed, methods=["POST"]),
            Route("/resume/{run}", self._streamed, methods=["POST"]),
        ]
        return Starlette(
            routes=[Mount("/api", routes=api), Mount("/", StaticFiles(directory=STATIC, html=True))]
        )

    async def _refused(self, request: Request) -> Response | None:
        body = await request.body()
        path = request.url.path.removeprefix("/api/")
        query = dict(request.query_params)
        self.requests.append((request.method, path, query, json.loads(body) if body else None))
        await self.ready.wait()
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return JSONResponse({"error": "The token is missing or wrong."}, 401)
        if self.error:
            return JSONResponse({"error": self.error[1]}, self.error[0])
        run = request.path_params.get("run")
        if run and run not in self.documents:
            return JSONResponse({"error": f"There is no run {run!r}."}, 404)
        return None

    async def _list(self, request: Request) -> Response:
        if refused := await self._refused(request):
            return refused
        wanted = request.query_params.get("text", "").lower()
        found = []
        for document in self.documents.values():
            branch = document["branches"][-1]
            if wanted in document["question"].lower():
                found.append(
                    {
                        "id": document["run"],
                        "started": document["started"],
                        "question": document["question"],
                        "stop_reason": branch["stop_reason"],
                        "answer": branch["answer"],
                        "supported": branch["supported"],
                    }
                )
        listed = found[: int(request.query_params["limit"])]
        return JSONResponse({"runs": listed, "stop_reasons": stop_reasons()})

    async def _choices(self, request: Request) -> Response:
        refused = await self._refused(request)
        return refused or JSONResponse(self.choices)

    async def _document(self, request: Request) -> Response:
        refused = await self._refused(request)
        return refused or JSONResponse(self.documents[request.path_params["run"]])

    async def _export(self, request: Request) -> Response:
        if refused := await self._refused(request):
            return refused
        query = request.query_params
        name = f"{request.path_params['run']}-{query['branch']}.{query['format']}"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response("exported", media_type="application/octet-stream", headers=headers)

    async def _live(self, request: Request) -> Response:
        if refused := await self._refused(request):
            return refused

        async def events() -> AsyncIterator[str]:
            event = {"type": ""}
            while event["type"] != "done":
                event = await self.live.get()
                yield f"data: {json.dumps(event)}\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    async def _streamed(self, request: Request) -> Response:
        if refused := await self._refused(request):
            return refused

        async def events() -> AsyncIterator[str]:
            yield ": the connection is open\n\n"
            for event in self.stream:
                if event and event["type"] == "break":
                    raise ConnectionError("the server breaks the connection off")
                if event is None:
                    await self.gate.wait()
                    if self.then:
                        self.documents[self.then["run"]] = deepcopy(self.then)
                else:
                    yield f"data: {json.dumps(event)}\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[CannedServer]:
        """Serve on a free port of this machine."""
        app = self.app()

        async def guarded(scope: Any, receive: Any, send: Any) -> None:
            async def send_with_policy(message: Any) -> None:
                if message["type"] == "http.response.start":
                    policy = (b"content-security-policy", CONTENT_SECURITY_POLICY.encode())
                    message["headers"] = [*message["headers"], policy]
                await send(message)

            await app(scope, receive, send_with_policy)

        config = uvicorn.Config(guarded, port=0, log_level="critical", lifespan="off")
        config.timeout_graceful_shutdown = 1
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        try:
            yield self
        finally:
            server.should_exit = True
            await serving
