"""The Elasticsearch program of docs/scale.md: the real clients, a stand-in for the server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from langchain_core.retrievers import BaseRetriever

from ras_flow.errors import RasFlowError
from ras_flow.indexes import LangChainRetriever
from ras_flow.parts import Reading
from tests.graph.world import DOCUMENTS
from tests.indexes.helpers import scale_program


class Search(BaseHTTPRequestHandler):
    """Answers `_search` with the documents that share most words with the query."""

    asked: list[dict[str, Any]]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append({"path": self.path, **body})
        words = set(body["query"]["multi_match"]["query"].lower().split())
        rows = sorted(DOCUMENTS, key=lambda row: -len(words & set(row["text"].lower().split())))
        hits = [
            {"_index": "wiki", "_id": str(n), "_score": 1.0, "_source": dict(row)}
            for n, row in enumerate(rows[: body["size"]])
        ]
        self.send({"took": 1, "timed_out": False, "hits": {"hits": hits}})

    def do_GET(self) -> None:
        self.send({"version": {"number": "8.19.0", "build_flavor": "default"}})

    def send(self, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("x-elastic-product", "Elasticsearch")
        self.send_header("content-type", "application/vnd.elasticsearch+json;compatible-with=8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    kind = type("Search", (Search,), {"asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def program(address: str) -> dict[str, Any]:
    """Run what the page shows; return its names."""
    shown = scale_program("ElasticsearchRetriever")
    assert "http://localhost:9200" in shown
    names: dict[str, Any] = {}
    exec(shown.replace("http://localhost:9200", address), names)
    return names


async def test_the_program_of_the_page_finds_titled_passages(server: ThreadingHTTPServer) -> None:
    retriever: BaseRetriever = program(f"http://127.0.0.1:{server.server_port}")["retriever"]
    row = DOCUMENTS[0]
    [[best, *rest]] = await LangChainRetriever(retriever).retrieve([row["text"]], 3)
    assert (best.passage["title"], best.passage["text"]) == (row["title"], row["text"])
    assert len(rest) == 2
    [asked] = server.RequestHandlerClass.asked  # type: ignore[attr-defined]
    assert asked["path"] == "/wiki/_search" and asked["size"] >= Reading().top_k
    server.shutdown()
    server.server_close()
    with pytest.raises(RasFlowError, match=r"ElasticsearchRetriever failed.*Connection"):
        await LangChainRetriever(retriever).retrieve(["bridge"], 3)
