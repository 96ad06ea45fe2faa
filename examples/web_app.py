"""RAS behind FastAPI: the whole answer, or progress and the answer's words as they come.

pip install fastapi uvicorn
uvicorn examples.web_app:app
curl -N 'http://127.0.0.1:8000/stream?question=Who+discovered+radium%3F'

What SETTINGS leaves out has its default, and so the demo corpus and the embedded model answer.
Runs are kept in the folder where this is started, for `ras-flow runs list --database .`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.sqlite.aio import AsyncSqliteStore

from ras_flow import Context, RasFlowError, build_graph
from ras_flow.errors import InputError, OverloadedError
from ras_flow.formats.answer import without_thoughts

SETTINGS = Context()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Keep one graph with its databases open for all requests."""
    async with (
        AsyncSqliteSaver.from_conn_string("runs.sqlite") as saver,
        AsyncSqliteStore.from_conn_string("store.sqlite") as store,
    ):
        await store.setup()
        app.state.graph = build_graph(defaults=SETTINGS).compile(checkpointer=saver, store=store)
        yield


app = FastAPI(lifespan=lifespan)


@app.exception_handler(RasFlowError)
async def tell(_: Request, error: RasFlowError) -> JSONResponse:
    """Tell what was wrong: with the question, for want of room, or with a part of ours."""
    status = {InputError: 422, OverloadedError: 503}.get(type(error), 500)
    return JSONResponse({"error": str(error)}, status)


@app.get("/ask")
async def ask(request: Request, question: str) -> dict[str, Any]:
    """Answer at once."""
    found = await request.app.state.graph.ainvoke({"question": question}, new_thread())
    return {name: found[name] for name in ("answer", "citations", "stop_reason")}


@app.get("/stream")
async def stream(request: Request, question: str) -> StreamingResponse:
    """Send server-sent events: those of `ras_flow.events`, and the words of the answer."""
    return StreamingResponse(
        tell_events(request.app.state.graph, question), media_type="text/event-stream"
    )


async def tell_events(graph: Any, question: str) -> AsyncIterator[str]:
    """Run a question; who closes the connection ends the run.

    Args:
        graph: The compiled graph.
        question: The question.

    Yields:
        An event of `ras_flow.events` each, with those of :class:`Words` before the last.
    """
    words = Words()
    modes = ["custom", "messages"]
    try:
        async for mode, given in graph.astream(
            {"question": question}, new_thread(), stream_mode=modes
        ):
            events = [given]
            if mode == "messages":
                chunk, about = given
                events = words.add(chunk) if about["langgraph_node"] == "answer" else []
            for event in events:
                yield f"data: {json.dumps(event)}\n\n"
    except RasFlowError as error:
        yield f"data: {json.dumps({'type': 'error', 'message': str(error)})}\n\n"


class Words:
    """The answer as it is written, where the model streams, without what it thinks before."""

    def __init__(self) -> None:
        self._call: str | None = None
        self._text = self._sent = ""

    def add(self, chunk: BaseMessage) -> list[dict[str, str]]:
        """Take what a model wrote.

        Args:
            chunk: A part of its answer, or all of it.

        Returns:
            What to send: ``{"type": "word", "text": "…"}`` for more of the answer; before that
            ``{"type": "restart"}`` where the words until now are none of it, since the call is
            tried again, or they were thoughts of which only the end is marked.
        """
        if chunk.id != self._call:
            self._call, self._text = chunk.id, ""
        self._text += chunk.text
        spoken = without_thoughts(self._text).lstrip()
        events = []
        if not spoken.startswith(self._sent):
            events.append({"type": "restart"})
            self._sent = ""
        if more := spoken[len(self._sent) :]:
            events.append({"type": "word", "text": more})
            self._sent = spoken
        return events


def new_thread() -> RunnableConfig:
    """Make a run of its own for a question."""
    return {"configurable": {"thread_id": uuid4().hex}}
