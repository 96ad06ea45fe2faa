"""Back-pressure: what waits is bounded, is told so, and leaves when nobody wants it any more."""

from __future__ import annotations

import asyncio
import gc
import json
import re
import threading
from contextlib import ExitStack
from typing import Any

import openai
import pytest
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from ras_flow.errors import ConfigurationError, OverloadedError
from ras_flow.llms import load_language_model, waiting
from ras_flow.llms.remote.chat import ChatLanguageModel
from ras_flow.llms.waiting import VARIABLE, call_slot
from ras_flow.parts import Message
from tests.faults.world import builder, question, settings, town
from tests.faults.world import model as answers
from tests.servers import Answer, AnthropicServer, OpenAIServer
from tests.servers.scripted import last_message

PROMPT: list[Message] = [{"role": "user", "content": "Capital of France?"}]
CONFIG: Any = {"configurable": {"thread_id": "t"}}

pytestmark = pytest.mark.usefixtures("providers")


def asked(server: Any, number: int = 0) -> dict[str, Any]:
    return {"question": question(number), "settings": settings(server.url).changed()}


async def test_calls_beyond_the_limit_are_refused_and_the_others_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, "4")
    with OpenAIServer(lambda _: Answer("Paris", delay=0.2)) as server:
        model = load_language_model("openai:a", base_url=server.url, max_concurrency=1)
        made = await asyncio.gather(
            *(model.generate([PROMPT], max_new_tokens=5) for _ in range(6)), return_exceptions=True
        )
        refused = [one for one in made if isinstance(one, OverloadedError)]
        assert (len(refused), len(server.requests), waiting._taken) == (2, 4, 0)
        assert "4 model calls" in str(refused[0]) and VARIABLE in str(refused[0])
        [again] = await model.generate([PROMPT], max_new_tokens=5)
        assert again.text == "Paris"


@pytest.mark.parametrize("name", ["openai:a", "anthropic:a"])
async def test_a_request_of_more_calls_than_places_is_served(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(VARIABLE, "4")
    monkeypatch.setattr("ras_flow.support.concurrency.AT_ONCE", 3)
    kind = OpenAIServer if name.startswith("openai") else AnthropicServer
    with kind(lambda body: Answer(last_message(body).upper())) as server:
        model = load_language_model(name, base_url=server.url)
        prompts: list[list[Message]] = [[{"role": "user", "content": f"p{n}"}] for n in range(10)]
        made = await model.generate(prompts, max_new_tokens=5)
        assert [one.text for one in made] == [f"P{n}" for n in range(10)]
        assert waiting._taken == 0


async def test_no_new_question_is_taken_while_half_of_the_places_are_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(VARIABLE, "8")
    with OpenAIServer(answers) as server, ExitStack() as places:
        graph = builder().compile()
        for _ in range(4):
            places.enter_context(call_slot())
        with pytest.raises(OverloadedError, match="busy"):
            await graph.ainvoke(asked(server))
        assert server.requests == []
        places.pop_all().close()
        assert (await graph.ainvoke(asked(server)))["answer"] == town(0)


async def test_a_run_that_finds_no_place_is_resumed_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "8")
    with OpenAIServer(answers) as server, ExitStack() as places:
        graph = builder().compile(checkpointer=InMemorySaver())
        with pytest.raises(OverloadedError, match="resume"):
            given = asked(server)
            given["settings"]["top_k"] = 1
            async for step in graph.astream(given, CONFIG, stream_mode="updates"):
                if "plan" in step and server.requests:
                    for _ in range(8):
                        places.enter_context(call_slot())
        places.pop_all().close()
        assert len(server.requests) == 2
        assert (await graph.ainvoke(None, CONFIG))["answer"] == town(0)
        bodies = [json.dumps(request["body"]) for request in server.requests]
        assert len(bodies) == len(set(bodies)), "nothing is asked for again"


async def test_cancelled_runs_leave_the_queue_and_free_their_connection() -> None:
    gate = threading.Event()

    def held(body: dict[str, Any]) -> Answer:
        gate.wait(30)
        return answers(body)

    with OpenAIServer(held) as server:
        graph = builder().compile()
        given = [asked(server, n) for n in range(5)]
        for one in given:
            one["settings"] |= {"max_concurrency": 1, "model_timeout": 60.0, "top_k": 1}
        runs = [asyncio.create_task(graph.ainvoke(one)) for one in given]
        while waiting._taken < 5 or not server.requests:
            await asyncio.sleep(0.01)
        served = about(server).pop()
        last = (served + 1) % 5
        queued = [run for n, run in enumerate(runs) if n not in (served, last)]
        for run in queued:
            run.cancel()
        await asyncio.wait(queued)
        assert (waiting._taken, about(server)) == (2, {served})
        runs[served].cancel()
        await asyncio.wait([runs[served]])
        assert waiting._taken == 1
        gate.set()
        assert (await runs[last])["answer"] == town(last)
        assert about(server) == {served, last}


def about(server: Any) -> set[int]:
    """Return the questions that the server was asked about."""
    asked = [last_message(request["body"]) for request in server.requests]
    return {int(number) for text in asked for number in re.findall(r"Bridge(\d+)", text)}


@pytest.mark.parametrize("limit", ["many", "-3", "1", "2.5"])
async def test_a_wrong_limit_is_named(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, limit)
    with pytest.raises(ConfigurationError, match=VARIABLE):
        await builder().compile().ainvoke({"question": "Why?"})


@pytest.mark.parametrize(
    ("kind", "name"), [(OpenAIServer, "openai:a"), (AnthropicServer, "anthropic:claude-haiku-4-5")]
)
def test_connections_are_kept_within_an_event_loop_and_closed_with_it(
    kind: Any, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    with kind(lambda _: Answer("Paris")) as server:
        opened: list[Any] = []
        accept = server.http.get_request

        def counted() -> Any:
            opened.append(accept())
            return opened[-1]

        server.http.get_request = counted
        model = load_language_model(name, base_url=server.url, max_retries=0, max_concurrency=1)

        async def ten() -> None:
            for _ in range(5):
                await model.generate([PROMPT, PROMPT], max_new_tokens=5)

        asyncio.run(ten())
        assert len(opened) == 1
        asyncio.run(ten())
        assert len(opened) == 2, "those of a loop that has ended are not used again"
        assert len(model._clients._of._of) == 1, "nor kept"  # type: ignore[attr-defined]
        gc.collect()
        assert "Unclosed" not in caplog.text


async def test_a_client_that_the_owner_of_a_chat_model_chose_is_used() -> None:
    sent: list[Any] = []

    async def count(request: Any) -> None:
        sent.append(request)

    own = openai.DefaultAsyncHttpxClient(event_hooks={"request": [count]})
    with OpenAIServer(lambda _: Answer("Paris")) as server:
        chat = ChatOpenAI(model="m", base_url=server.url, http_async_client=own)
        await ChatLanguageModel(chat).generate([PROMPT], max_new_tokens=5)
    assert len(sent) == 1
    await own.aclose()
