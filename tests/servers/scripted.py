"""What the servers share: scripts, recorded requests, injected failures.

A script is a list of answers, tried in order: one with `match` answers every request whose last
user message matches that regular expression; one without answers a single request and is used up.
A function from the request's JSON body to an answer works too.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """One scripted answer; with a `status` of 400 or more, an error."""

    text: str = ""
    reasoning: dict[str, str] = field(default_factory=dict)
    """What a compatible server writes beside the text, by the name that it gives it."""
    match: str | None = None
    delay: float = 0.0
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: str = "scripted failure"
    at_limit: bool = False
    broken: str | None = None
    """"cut": the connection breaks half-way. "closed": the stream ends early, but properly.
    "garbage": the body is no JSON. "html": a web page instead of JSON. "event": an error event
    inside the stream."""
    fields: dict[str, Any] = field(default_factory=dict)
    """Replace fields of the body of an answer that is not streamed."""
    input_tokens: int = 11
    output_tokens: int = 7


Script = Sequence[Answer] | Callable[[dict[str, Any]], Answer]


def last_message(body: dict[str, Any]) -> str:
    content = body["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


class AtOnce:
    """A script that takes a moment for its answer.

    Attributes:
        most: How many requests were under way at once.
    """

    def __init__(self, answer: str | Callable[[dict[str, Any]], str]) -> None:
        self.answer = answer
        self.most = 0
        self._now = 0
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Answer:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(0.1)
        with self._lock:
            self._now -= 1
        return Answer(self.answer if isinstance(self.answer, str) else self.answer(body))


class ScriptedServer:
    """Base of the servers; use it as a context manager.

    Attributes:
        requests: Of each request: `path`, `headers` (lower-case names), `body`, `at` (seconds).
    """

    def __init__(self, script: Script = (), *, port: int = 0) -> None:
        self.script = script if callable(script) else list(script)
        self.requests: list[dict[str, Any]] = []
        self.lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle(self) -> None:
                # A client that keeps its connection open, and is killed, resets it.
                with suppress(ConnectionResetError):
                    super().handle()

            def do_POST(self) -> None:
                outer.serve(self)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.http.daemon_threads = True
        self.thread = threading.Thread(
            target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}"

    @property
    def url(self) -> str:
        """The base URL that clients take."""
        raise NotImplementedError

    def __enter__(self) -> ScriptedServer:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()

    def whole(self, body: dict[str, Any], answer: Answer) -> dict[str, Any]:
        raise NotImplementedError

    def events(self, body: dict[str, Any], answer: Answer) -> Iterator[str]:
        raise NotImplementedError

    def failure(self, answer: Answer) -> dict[str, Any]:
        raise NotImplementedError

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        record = {"path": handler.path, "body": body, "at": time.time()}
        with self.lock:
            headers = {name.lower(): value for name, value in handler.headers.items()}
            self.requests.append(record | {"headers": headers})
        answer = self._choose(body)
        time.sleep(answer.delay)
        try:
            self._send(handler, body, answer)
        except (BrokenPipeError, ConnectionResetError):
            handler.close_connection = True  # The client gave up waiting.

    def _choose(self, body: dict[str, Any]) -> Answer:
        if callable(self.script):
            return self.script(body)
        with self.lock:
            for answer in self.script:
                if answer.match is None:
                    self.script.remove(answer)
                    return answer
                if re.search(answer.match, last_message(body)):
                    return answer
        return Answer(status=404, error="the script has no answer for this request")

    def _send(self, handler: BaseHTTPRequestHandler, body: dict[str, Any], answer: Answer) -> None:
        if answer.status >= 400:
            self._reply(handler, answer, json.dumps(self.failure(answer)))
        elif answer.broken == "html":
            self._reply(handler, answer, "<html>Sign in</html>", kind="text/html")
        elif body.get("stream"):
            self._stream(handler, body, answer)
        elif answer.broken == "garbage":
            self._reply(handler, answer, '{"id": nonsense')
        else:
            text = json.dumps(self.whole(body, answer) | answer.fields)
            self._reply(handler, answer, text, cut=answer.broken is not None)

    def _reply(
        self,
        handler: BaseHTTPRequestHandler,
        answer: Answer,
        text: str,
        *,
        kind: str = "application/json",
        cut: bool = False,
    ) -> None:
        data = text.encode()
        handler.send_response(answer.status)
        handler.send_header("content-type", kind)
        handler.send_header("content-length", str(len(data)))
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data[: len(data) // 2] if cut else data)
        handler.close_connection = handler.close_connection or cut

    def _stream(
        self, handler: BaseHTTPRequestHandler, body: dict[str, Any], answer: Answer
    ) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        events = list(self.events(body, answer))
        if answer.broken:
            events = events[: len(events) // 2]
        if answer.broken == "garbage":
            events.append("data: {nonsense\n\n")
        if answer.broken == "event":
            events.append(f"event: error\ndata: {json.dumps(self.failure(answer))}\n\n")
        for event in events:
            data = event.encode()
            handler.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            handler.wfile.flush()
        if answer.broken == "cut":
            handler.close_connection = True
        else:
            handler.wfile.write(b"0\r\n\r\n")
