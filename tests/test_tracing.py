"""What a tracer sees of a run: nodes, model calls and retrievals, in LangChain's own terms."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from ras_flow.errors import ModelResponseError
from ras_flow.llms import LocalLanguageModel
from ras_flow.parts.prompted import PromptedAnswerer
from tests.cli.model import QUESTION as ASKED
from tests.cli.model import Model, write_documents
from tests.graph.world import QUESTION, build, world
from tests.llms.tiny import save_tiny_model


async def traced(graph: Any, raises: Any = None) -> Any:
    """Run a question and return the root of what a tracer collected."""
    collector = RunCollectorCallbackHandler()
    with raises or nullcontext():
        await graph.ainvoke({"question": QUESTION}, {"callbacks": [collector]})
    [root] = collector.traced_runs
    return root


def children(run: Any, *, kind: str | None = None) -> list[Any]:
    return [child for child in run.child_runs if kind in (None, child.run_type)]


def node(root: Any, name: str) -> Any:
    return next(child for child in root.child_runs if child.name == name)


async def test_nodes_appear_in_order_under_one_run() -> None:
    root = await traced(build(world(), name="ras"))
    assert root.name == "ras"
    hop = ["plan", "retrieve", "to_triples", "merge_graph"]
    end = ["plan", "answer"]
    assert [child.name for child in root.child_runs] == ["start", *hop, *hop, *end]
    assert node(root, "retrieve").metadata["langgraph_node"] == "retrieve"


async def test_a_retrieval_shows_query_and_passages() -> None:
    root = await traced(build(world()))
    [retrieval] = children(node(root, "retrieve"), kind="retriever")
    assert retrieval.name == "ListRetriever"
    assert retrieval.inputs == {"query": QUESTION}
    titles = [document.metadata["title"] for document in retrieval.outputs["documents"]]
    assert titles[0] == "Aurora Bridge"
    assert all(
        document.metadata["score"] is not None for document in retrieval.outputs["documents"]
    )


async def test_a_failed_retrieval_shows_its_error() -> None:
    class Broken:
        identity = "broken"

        async def retrieve(self, queries: Any, k: int) -> Any:
            raise OSError("disk on fire")

    root = await traced(build(world(retriever=Broken())), pytest.raises(OSError))
    [retrieval] = children(node(root, "retrieve"), kind="retriever")
    assert "disk on fire" in retrieval.error


async def test_a_local_models_call_shows_prompt_text_and_tokens(tmp_path: Path) -> None:
    folder = str(save_tiny_model(tmp_path / "tiny", window=8000))
    answerer = PromptedAnswerer(LocalLanguageModel(folder, window=7000))
    root = await traced(build(world(answerer=answerer)))
    [call] = children(node(root, "answer"), kind="llm")
    assert call.name == "tiny"  # not its path
    assert QUESTION in json.dumps(call.inputs)
    message = call.outputs["generations"][0][0]["message"]["kwargs"]
    usage = root.outputs["usage"]["answer"]
    for name in ("input_tokens", "output_tokens"):
        assert message["usage_metadata"][name] == usage[name] > 0
    assert call.metadata["langgraph_node"] == "answer"


async def test_a_local_models_failure_shows_as_its_error(tmp_path: Path) -> None:
    folder = str(save_tiny_model(tmp_path / "tiny", window=50))
    model = LocalLanguageModel(folder)
    model.window = 7000  # More than it can read.
    graph = build(world(answerer=PromptedAnswerer(model)))
    root = await traced(graph, pytest.raises(ModelResponseError))
    [call] = children(node(root, "answer"), kind="llm")
    assert "Shorten the prompt" in call.error


class Collector:
    """An OpenTelemetry collector: keeps the spans that are sent to it over HTTP."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                    for scope in resource.scope_spans:
                        outer.spans += scope.spans
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.http.shutdown()


def test_the_command_sends_opentelemetry_spans_with_token_counts(
    collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAS_FLOW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("LANGSMITH_TRACING_MODE", "otel")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
    documents = write_documents(tmp_path / "documents")
    with Model() as model:
        # A true process: a forked one skips what sends the last spans at its exit.
        command = [Path(sys.executable).with_name("ras-flow"), "ask", ASKED, "--docs", documents]
        done = subprocess.run([*command, *model.options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    spans = {span.span_id: span for span in collector.spans}
    names = {span.name for span in spans.values()}
    assert {"ras", "plan", "retrieve", "to_triples", "merge_graph", "answer"} <= names
    [root] = [span for span in spans.values() if not span.parent_span_id]
    assert root.name == "ras"
    [retrieval, _] = [span for span in spans.values() if span.name == "BM25Retriever"]
    assert spans[retrieval.parent_span_id].name == "retrieve"
    calls = [attributes(span) for span in spans.values() if span.name == "ChatOpenAI"]
    assert len(calls) == len(model.asked)
    assert {call["gen_ai.usage.input_tokens"] for call in calls} == {11}
    assert {call["gen_ai.usage.output_tokens"] for call in calls} == {7}
    nodes = {call["langsmith.metadata.langgraph_node"] for call in calls}
    assert nodes == {"plan", "to_triples", "answer"}


def attributes(span: Any) -> dict[str, Any]:
    return {a.key: a.value.string_value or a.value.int_value for a in span.attributes}
