"""The graph as `langgraph dev` serves it, through LangGraph's own client."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import BadRequestError
from pydantic import TypeAdapter

from ras_flow import Context
from ras_flow.demo import default_question
from ras_flow.events import Event
from ras_flow.kg.build import build_kg
from ras_flow.state.kg import triple_id
from tests.graph.world import QUESTION
from tests.server.dev import DevServer
from tests.server.model import TOGETHER

pytestmark = pytest.mark.slow

GRAPH = "ras"
NODES = ["start", "plan", "retrieve", "to_triples", "merge_graph", "encode", "answer"]
REVIEWS = ["review_plan", "review_graph", "review_answer"]
BIRTH = triple_id("Mira Lund", "place of birth", "Narvik")
ERROR = "__error__"


@pytest.fixture
def client(server: DevServer) -> LangGraphClient:
    return get_client(url=server.url, api_key=None)


async def answered(client: LangGraphClient, settings: dict[str, Any]) -> str:
    """A thread with the answered question, which keeps its settings."""
    thread = (await client.threads.create())["thread_id"]
    given = {"question": QUESTION, "settings": settings}
    result = await client.runs.wait(thread, GRAPH, input=given)
    assert result["answer"] == "Narvik"
    return thread


async def history(client: LangGraphClient, thread: str) -> list[Any]:
    return (await client.threads.get_history(thread, limit=100))[::-1]


async def test_a_run_streams_typed_events_in_order(
    client: LangGraphClient, settings: dict[str, Any]
) -> None:
    thread = (await client.threads.create())["thread_id"]
    custom, updates = [], []
    async for part in client.runs.stream(
        thread,
        GRAPH,
        input={"question": QUESTION},
        context=settings,
        stream_mode=["custom", "updates"],
    ):
        assert part.event in ("metadata", "custom", "updates"), part
        if part.event == "custom":
            custom.append(part.data)
        elif part.event == "updates":
            updates += part.data
    hop = ["plan", "passages", "extracted", "graph"]
    assert [event["type"] for event in custom] == ["start", *hop, *hop, "plan", "answer"]
    hop = ["plan", "retrieve", "to_triples", "merge_graph"]
    assert updates == ["start", *hop, *hop, "plan", "answer"]
    typed: TypeAdapter[Event] = TypeAdapter(Event)
    assert [typed.validate_python(event, strict=True) for event in custom] == custom
    values = (await client.threads.get_state(thread))["values"]
    assert (values["answer"], values["stop_reason"]) == ("Narvik", "sufficient")
    cited = [values["triples"][citation["triple"]]["object"] for citation in values["citations"]]
    assert cited == ["Mira Lund", "Narvik"]


async def test_a_fork_without_a_triple_has_another_answer_and_the_threads_settings(
    client: LangGraphClient, settings: dict[str, Any]
) -> None:
    thread = await answered(client, settings)
    before = await history(client, thread)
    at_answer = next(step for step in before if step["next"] == ["answer"])
    edited = await client.threads.update_state(
        thread, {"triples": {BIRTH: None}}, checkpoint=at_answer["checkpoint"]
    )
    result = await client.runs.wait(thread, GRAPH, input=None, checkpoint=edited["checkpoint"])
    assert result["answer"] == "elsewhere"
    assert BIRTH not in result["triples"] and len(result["triples"]) == 3
    after = {step["checkpoint"]["checkpoint_id"]: step for step in await history(client, thread)}
    for step in before:
        assert after[step["checkpoint"]["checkpoint_id"]]["values"] == step["values"]
    assert before[-1]["values"]["answer"] == "Narvik"


async def test_t2rag_is_served_beside_ras(
    client: LangGraphClient, settings: dict[str, Any]
) -> None:
    asked = {"question": QUESTION}
    result: Any = await client.runs.wait(None, "t2rag", input=asked, context=settings)
    assert (result["answer"], result["stop_reason"]) == ("Narvik", "sufficient")
    assert [one["value"] for one in result["fills"].values()] == ["Mira Lund", "Narvik"]
    assert all(one["grounded"] for one in result["fills"].values())


async def test_reg_is_served_beside_ras(client: LangGraphClient, tmp_path: Path) -> None:
    facts = tmp_path / "facts.tsv"
    facts.write_text("Lou Seal\tmascot of\tGiants\nGiants\twon\tthe Cup\n")
    await build_kg(tmp_path / "kg", [facts])
    settings: Any = {"kg": str(tmp_path / "kg"), "kg_retriever": "similarity"}
    settings["answerer"] = "chain-ends"
    result: Any = await client.runs.wait(
        None, "reg", input={"question": "Why is the sky blue?"}, context=settings
    )
    assert (result["stop_reason"], result["entities"], result["answers"]) == ("no_entity", [], [])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"context": {"max_hop": 1}}, "max_hop"),
        ({"triples": ["x"]}, "takes a dict"),
    ],
)
async def test_why_an_edit_is_refused_is_told_to_the_client(
    client: LangGraphClient, settings: dict[str, Any], values: dict[str, Any], said: str
) -> None:
    thread = await answered(client, settings)
    with pytest.raises(BadRequestError) as refused:
        await client.threads.update_state(thread, values, as_node="merge_graph")
    assert said in refused.value.response.text


async def test_stateless_runs_at_the_same_time(
    client: LangGraphClient, settings: dict[str, Any]
) -> None:
    question = {"question": f"{QUESTION} {TOGETHER}"}
    runs = [client.runs.wait(None, GRAPH, input=question, context=settings) for _ in range(2)]
    assert [result["answer"] for result in await asyncio.gather(*runs)] == ["Narvik"] * 2


@pytest.mark.parametrize(
    ("given", "context", "error", "message"),
    [
        ({"question": QUESTION}, {"max_hops": -1}, "ConfigurationError", "max_hops must be"),
        ({"question": QUESTION}, {"index": "/nowhere"}, "IndexMissingError", "no index at"),
        ({"question": QUESTION, "settings": {"hops": 3}}, {}, "ConfigurationError", "hops"),
        ({"question": " "}, {}, "InputError", "The question is empty"),
        ({"question": "Why? " * 5_000}, {}, "InputError", "at most 20000 are taken"),
        ({"question": QUESTION, "documents": [{}]}, {}, "InputError", "text of a document"),
    ],
)
async def test_a_wrong_value_is_named_to_the_client_and_the_thread_stays_usable(
    client: LangGraphClient,
    settings: dict[str, Any],
    given: dict[str, Any],
    context: dict[str, Any],
    error: str,
    message: str,
) -> None:
    thread = (await client.threads.create())["thread_id"]
    async with asyncio.timeout(60):
        failed: Any = await client.runs.wait(
            thread,
            GRAPH,
            input=given,
            context=settings | context if context else None,
            raise_error=False,
        )
        assert failed[ERROR]["error"] == error
        assert message in failed[ERROR]["message"]
        result = await client.runs.wait(
            thread, GRAPH, input={"question": QUESTION, "settings": {}}, context=settings
        )
    assert result["answer"] == "Narvik"


async def test_the_embedded_model_needs_no_setting_but_documents_do(
    client: LangGraphClient,
) -> None:
    given = {"question": default_question()}
    settings = {"max_hops": 1, "top_k": 1}
    result = await client.runs.wait(None, GRAPH, input=given, context=settings, raise_error=False)
    assert "no documents" in result[ERROR]["message"]
    named = {**settings, "index": "demo"}
    result = await client.runs.wait(None, GRAPH, input=given, context=named)
    assert ERROR not in result, result
    assert result["answer"] and len(result["hops"][0]["passages"]) == 1
    assert result["triples"]


async def test_the_server_describes_the_graph_and_its_settings(client: LangGraphClient) -> None:
    [assistant] = await client.assistants.search(graph_id=GRAPH)
    schemas: Any = await client.assistants.get_schemas(assistant["assistant_id"])
    assert set(schemas["context_schema"]["properties"]) == set(Context.model_fields)
    assert schemas["context_schema"]["properties"]["max_hops"]["default"] == 5
    assert schemas["input_schema"]["required"] == ["question"]
    drawn: Any = await client.assistants.get_graph(assistant["assistant_id"])
    assert {node["id"] for node in drawn["nodes"]} == {"__start__", *NODES, *REVIEWS, "__end__"}
    edges = {(edge["source"], edge["target"]) for edge in drawn["edges"]}
    assert {("plan", "retrieve"), ("plan", "answer"), ("merge_graph", "encode")} <= edges


async def test_nothing_blocked_the_event_loop_or_failed_to_serialise(
    client: LangGraphClient, server: DevServer, settings: dict[str, Any]
) -> None:
    await answered(client, settings)
    log = server.log.read_text()
    assert "Background run succeeded" in log
    for word in (
        "Blocking call",
        "BlockingError",
        "Deserializ",
        "unregistered",
        "ickle",
        "Failed to",
    ):
        assert word not in log
