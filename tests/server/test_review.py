"""Reviews on `langgraph dev`, by LangGraph's client and bare HTTP, with the one payload."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient

from ras_flow.state.kg import triple_id
from tests.graph.world import QUESTION
from tests.server.dev import DevServer

pytestmark = pytest.mark.slow

GRAPH = "ras"
BIRTH = triple_id("Mira Lund", "place of birth", "Narvik")
DROP = {"op": "drop_triple", "triple": BIRTH}
PAUSES = {"pause_before_retrieval": True, "pause_after_merge": True, "pause_before_answer": True}


@pytest.fixture
def client(server: DevServer) -> LangGraphClient:
    return get_client(url=server.url, api_key=None)


async def asked(client: LangGraphClient, thread: str) -> Any:
    """What the thread waits for; None when it does not."""
    state: Any = await client.threads.get(thread)
    waiting = [one["value"] for of in state["interrupts"].values() for one in of]
    assert (state["status"] == "interrupted") == bool(waiting)
    return waiting[0] if waiting else None


async def test_every_pause_is_answered_by_the_same_payload(
    client: LangGraphClient, settings: dict[str, Any]
) -> None:
    thread = (await client.threads.create())["thread_id"]
    given: dict[str, Any] = {"question": QUESTION, "settings": settings | PAUSES}
    await client.runs.wait(thread, GRAPH, input=given)
    points = []
    while request := await asked(client, thread):
        points.append((request["point"], request["hop"]))
        edits = [DROP] if points[-1] == ("before_answer", 2) else []
        result: Any = await client.runs.wait(thread, GRAPH, command={"resume": {"edits": edits}})
    assert points == [
        ("before_retrieval", 0),
        ("after_merge", 0),
        ("before_retrieval", 1),
        ("after_merge", 1),
        ("before_answer", 2),
    ]
    assert result["answer"] == "elsewhere" and BIRTH not in result["triples"]


async def test_a_bad_answer_leaves_the_thread_waiting_and_the_stream_says_so(
    client: LangGraphClient, settings: dict[str, Any]
) -> None:
    thread = (await client.threads.create())["thread_id"]
    context = settings | {"pause_before_answer": True}

    async def events(**given: Any) -> list[Any]:
        stream = client.runs.stream(thread, GRAPH, context=context, stream_mode="custom", **given)
        return [part.data async for part in stream if part.event == "custom"]

    first = await events(input={"question": QUESTION})
    assert first[-1] == await asked(client, thread)
    assert first[-1]["triples"][BIRTH]["object"] == "Narvik"
    bad = {"edits": [{"op": "drop_triple", "triple": "0"}]}
    for answer, reason in (("yes", '"edits"'), ([], '"edits"'), (bad, "'0'")):
        [again] = await events(command={"resume": answer})
        assert reason in again["problem"]
        assert again == await asked(client, thread)
    on = await events(command={"resume": {"edits": [DROP]}})
    assert [event["type"] for event in on] == ["answer"]
    assert on[0]["answer"] == "elsewhere"


async def test_the_request_that_studio_sends_answers_a_review(
    server: DevServer, settings: dict[str, Any]
) -> None:
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as http:
        thread = (await http.post("/threads", json={})).json()["thread_id"]

        async def after(**body: Any) -> Any:
            """The thread's state after a run; what it waits for then."""
            made = await http.post(f"/threads/{thread}/runs", json={"assistant_id": GRAPH, **body})
            assert made.status_code == 200, made.text
            await http.get(f"/threads/{thread}/runs/{made.json()['run_id']}/join")
            state = (await http.get(f"/threads/{thread}/state")).json()
            asked = [each["value"] for task in state["tasks"] for each in task["interrupts"]]
            return state["values"], asked[0] if asked else None

        given = {"question": QUESTION, "settings": settings | PAUSES}
        _, request = await after(input=given)
        assert (request["point"], request["subquery"]) == ("before_retrieval", QUESTION)
        for answer, reason in (("yes", '"edits"'), ({"edits": [{"op": "cook"}]}, "cook")):
            _, request = await after(command={"resume": answer})
            assert request["point"] == "before_retrieval" and reason in request["problem"]
        edit = {"op": "subquery", "text": "Where was Mira Lund born?"}
        values, request = await after(command={"resume": {"edits": [edit]}})
        assert (request["point"], "problem" in request) == ("after_merge", False)
        assert [hop["subquery"] for hop in values["hops"]] == [edit["text"]]
        _, request = await after(command={"resume": {"edits": [DROP]}})
        while request is not None:
            values, request = await after(command={"resume": {"edits": []}})
        assert values["answer"] == "elsewhere" and BIRTH not in values["triples"]


async def test_a_model_named_in_a_review_holds_over_the_context_of_the_run(
    client: LangGraphClient, settings: dict[str, Any]
) -> None:
    thread = (await client.threads.create())["thread_id"]
    context = settings | {"pause_before_answer": True}
    await client.runs.wait(thread, GRAPH, input={"question": QUESTION}, context=context)
    edit = {"op": "model", "role": "answerer", "name": "nobody:test"}
    await client.runs.wait(thread, GRAPH, command={"resume": {"edits": [edit]}}, context=context)
    assert "nobody" in (await asked(client, thread))["problem"]
    edit = {"op": "model", "role": "answerer", "name": "openai:other"}
    result: Any = await client.runs.wait(
        thread, GRAPH, command={"resume": {"edits": [edit]}}, context=context
    )
    assert result["answer"] == "Narvik"
    state: Any = await client.threads.get_state(thread)
    assert state["values"]["context"]["answerer"] == "openai:other"
