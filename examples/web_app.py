"""RAS behind FastAPI: the whole answer at once, or progress and words as they come.

pip install fastapi uvicorn
uvicorn examples.web_app:app
curl -N 'http://127.0.0.1:8000/stream?question=Who+discovered+radium%3F'

With SETTINGS as they are, the built-in model answers from the demo corpus. Runs are kept in the
current folder: see `ras-flow runs list --database .`.
"""

from __future__ import annotations

import json
import re
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
from ras_flow.formats.reply import spoken

SETTINGS = Context(index="demo")


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
    """Answer with what went wrong: a bad question, too much work, or a failed part."""
    status = {InputError: 422, OverloadedError: 503}.get(type(error), 500)
    return JSONResponse({"error": str(error)}, status)


@app.get("/ask")
async def ask(request: Request, question: str) -> dict[str, Any]:
    """Return the whole answer."""
    found = await request.app.state.graph.ainvoke({"question": question}, new_thread())
    return {name: found[name] for name in ("answer", "supported", "citations", "stop_reason")}


@app.get("/stream")
async def stream(request: Request, question: str) -> StreamingResponse:
    """Send server-sent events: those of `ras_flow.events`, and the words of the answer."""
    return StreamingResponse(
        tell_events(request.app.state.graph, question), media_type="text/event-stream"
    )


async def tell_events(graph: Any, question: str) -> AsyncIterator[str]:
    """Run a question; closing the connection stops the run.

    Args:
        graph: The compiled graph.
        question: The question.

    Yields:
        The events of `ras_flow.events`, with those of :class:`Words` before the last.
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
                events = words.add(chunk, about["langgraph_node"])
            for event in events:
                yield f"data: {json.dumps(event)}\n\n"
    except RasFlowError as error:
        yield f"data: {json.dumps({'type': 'error', 'message': str(error)})}\n\n"


class Words:
    """The answer as a streaming model writes it, without thoughts, facts and numbers of sources."""

    def __init__(self) -> None:
        self._call: str | None = None
        self._text = self._sent = ""

    def add(self, chunk: BaseMessage, node: str) -> list[dict[str, str]]:
        """Take what a model wrote.

        Args:
            chunk: A part of its reply, or all of it.
            node: The graph's node that asked. With one call a hop the answer follows the facts,
                after "[ANSWER]".

        Returns:
            What to send: ``{"type": "word", "text": "…"}`` for more of the answer. A
            ``{"type": "restart"}`` before it takes back all earlier words: the call is tried
            again, or those words were thoughts.
        """
        if chunk.id != self._call:
            self._call, self._text = chunk.id, ""
        self._text += chunk.text
        _, marked, said = spoken(self._text).rpartition("[ANSWER]")
        if not marked and (node != "answer" or " | " in said):
            said = ""
        said = re.sub(r"\s*\[[\d, ]*\]?\s*$", "", said.lstrip())
        events = []
        if not said.startswith(self._sent):
            events.append({"type": "restart"})
            self._sent = ""
        if more := said[len(self._sent) :]:
            events.append({"type": "word", "text": more})
            self._sent = said
        return events


def new_thread() -> RunnableConfig:
    """Return the config of a new thread, one for each question."""
    return {"configurable": {"thread_id": uuid4().hex}}
