"""The real provider clients against local servers that speak their wire formats."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

import httpx
import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.caches import InMemoryCache
from langchain_core.exceptions import ModelAuthenticationError, ModelPermissionDeniedError
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import FakeListChatModel
from langchain_core.rate_limiters import InMemoryRateLimiter
from langchain_openai import ChatOpenAI
from langgraph.graph import START, StateGraph

from ras_flow.errors import (
    AuthenticationError,
    ConfigurationError,
    MissingExtraError,
    ModelResponseError,
    ModelUnavailableError,
)
from ras_flow.llms import ChatLanguageModel, load_language_model
from ras_flow.parts import Message
from ras_flow.parts.prompted import make_extractor
from ras_flow.state.schema import make_passage
from tests.servers import Answer, AnthropicServer, OpenAIServer, ScriptedServer
from tests.servers.scripted import last_message

KEY = "sk-secret-0123456789"
PROMPT: list[Message] = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Capital of France?"},
]
KINDS = {
    "anthropic": (AnthropicServer, "anthropic:claude-haiku-4-5"),
    "openai": (OpenAIServer, "openai:gpt-4.1-mini"),
}
both = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def serve(kind: str, *script: Answer) -> ScriptedServer:
    return KINDS[kind][0](script)


def client(kind: str, server: ScriptedServer, **settings: object) -> ChatLanguageModel:
    model = load_language_model(KINDS[kind][1], base_url=server.url, **settings)
    assert isinstance(model, ChatLanguageModel)
    model._retries = replace(model._retries, first_wait=0.01)
    return model


@both
async def test_answer_usage_and_settings(kind: str) -> None:
    with serve(kind, Answer("Paris.\nQuestion: next", input_tokens=21, output_tokens=5)) as server:
        (made,) = await client(kind, server).generate(
            [PROMPT], max_new_tokens=30, stop=["\nQuestion:"]
        )
    assert (made.text, made.input_tokens, made.output_tokens) == ("Paris.", 21, 5)
    assert not made.truncated
    body = server.requests[0]["body"]
    assert body["temperature"] == 0
    assert body.get("max_tokens", body.get("max_completion_tokens")) == 30
    assert body.get("stop", body.get("stop_sequences")) == ["\nQuestion:"]
    assert "Be brief." in json.dumps(body)


@both
async def test_an_answer_at_the_limit_is_marked(kind: str) -> None:
    with serve(kind, Answer("Par", at_limit=True)) as server:
        (made,) = await client(kind, server).generate([PROMPT], max_new_tokens=1)
    assert made.truncated


@both
async def test_prompts_run_at_once_in_order_and_bounded(kind: str) -> None:
    now, most, lock = 0, 0, threading.Lock()

    def answer(body: dict) -> Answer:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.1)
        with lock:
            now -= 1
        return Answer(last_message(body))

    prompts: list[list[Message]] = [[{"role": "user", "content": f"n{i}"}] for i in range(7)]
    with KINDS[kind][0](answer) as server:
        model = client(kind, server, max_concurrency=3)
        halves = await asyncio.gather(
            model.generate(prompts[:4], max_new_tokens=5),
            model.generate(prompts[4:], max_new_tokens=5),
        )
    assert [made.text for half in halves for made in half] == [f"n{i}" for i in range(7)]
    assert most == 3


async def test_waiting_for_a_slot_is_no_timeout() -> None:
    slow = FakeListChatModel(responses=["Paris"], sleep=0.1)
    model = ChatLanguageModel(slow, timeout=0.5, max_retries=0, max_concurrency=1)
    made = await model.generate([PROMPT] * 7, max_new_tokens=9)
    assert [one.text for one in made] == ["Paris"] * 7


async def test_waiting_for_the_models_own_rate_is_no_timeout() -> None:
    limiter = InMemoryRateLimiter(requests_per_second=5, check_every_n_seconds=0.01)
    chat = FakeListChatModel(responses=["Paris"], rate_limiter=limiter)
    model = ChatLanguageModel(chat, timeout=0.5, max_retries=0)
    began = time.monotonic()
    made = await model.generate([PROMPT] * 6, max_new_tokens=9)
    assert [one.text for one in made] == ["Paris"] * 6
    assert time.monotonic() - began > 1


async def test_after_its_rate_a_model_still_has_its_timeout() -> None:
    class Slow(FakeListChatModel):
        async def _agenerate(self, *args: object, **kwargs: object) -> Any:
            calls.append(time.monotonic())
            await asyncio.sleep(9)

    calls: list[float] = []
    limiter = InMemoryRateLimiter(requests_per_second=1, check_every_n_seconds=0.01)
    model = ChatLanguageModel(Slow(responses=[], rate_limiter=limiter), timeout=0.3, max_retries=1)
    model._retries = replace(model._retries, first_wait=0.01)
    with pytest.raises(ModelUnavailableError, match=r"2 attempts.*within 0\.3 seconds"):
        await model.generate([PROMPT], max_new_tokens=9)
    first, again = calls
    assert again - first > 0.9


async def test_what_langchains_cache_answers_does_not_wait_for_the_rate() -> None:
    limiter = InMemoryRateLimiter(requests_per_second=0.01, max_bucket_size=1)
    limiter.available_tokens = 1.0
    chat = FakeListChatModel(responses=["Paris"], rate_limiter=limiter, cache=InMemoryCache())
    for model in (ChatLanguageModel(chat), ChatLanguageModel(chat)):
        (made,) = await asyncio.wait_for(model.generate([PROMPT], max_new_tokens=9), 5)
        assert made.text == "Paris"


class _State(TypedDict):
    text: str


@both
async def test_tokens_reach_langgraphs_messages_stream(kind: str) -> None:
    with serve(kind, Answer("one two three", input_tokens=21)) as server:
        model = client(kind, server)
        costs = []

        async def node(state: _State) -> _State:
            (made,) = await model.generate([PROMPT], max_new_tokens=9)
            costs.append((made.input_tokens, made.output_tokens))
            return {"text": made.text}

        builder = StateGraph(_State)
        builder.add_node("node", node)
        builder.add_edge(START, "node")
        parts = [
            chunk.text
            async for chunk, _ in builder.compile().astream({"text": ""}, stream_mode="messages")
            if chunk.text
        ]
    assert parts == ["one", " two", " three"]
    assert costs == [(21, 7)]


@both
@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
async def test_passing_failures_are_retried(kind: str, status: int) -> None:
    with serve(kind, Answer(status=status), Answer(status=status), Answer("Paris")) as server:
        (made,) = await client(kind, server).generate([PROMPT], max_new_tokens=9)
    assert made.text == "Paris"
    assert len(server.requests) == 3


@both
async def test_lasting_failure_names_model_and_host(kind: str) -> None:
    failing = Answer(match="", status=500, error=f"boom {KEY}")
    with serve(kind, failing) as server:
        with pytest.raises(ModelUnavailableError) as caught:
            await client(kind, server, max_retries=2).generate([PROMPT], max_new_tokens=9)
    assert len(server.requests) == 3
    message = str(caught.value)
    assert KINDS[kind][1].split(":")[1] in message
    assert server.address.removeprefix("http://") in message
    assert "3 attempts" in message
    assert KEY not in message


@both
async def test_retry_after_is_honoured(kind: str) -> None:
    wait = Answer(status=429, headers={"retry-after": "0.7"})
    with serve(kind, wait, Answer("Paris")) as server:
        await client(kind, server).generate([PROMPT], max_new_tokens=9)
    first, second = (request["at"] for request in server.requests)
    assert 0.7 <= second - first < 2


async def test_retry_after_is_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ras_flow.llms.remote.retry.LONGEST_WAIT", 0.2)
    date = {"retry-after": "Wed, 21 Oct 2099 07:28:00 GMT"}
    wait = [Answer(status=429, headers={"retry-after": "900"}), Answer(status=429, headers=date)]
    with serve("openai", *wait, Answer("Paris")) as server:
        await client("openai", server).generate([PROMPT], max_new_tokens=9)
    assert server.requests[-1]["at"] - server.requests[0]["at"] < 2


@pytest.mark.parametrize(
    "said",
    [
        "soon",
        "Wed, 21 Oct 2099 07:28:00 -0000",
        "Wed, 21 Oct 99999999999999999999 07:28:00 GMT",
        "Wed, 21 Oct 2020 07:28:00 GMT",
        "-5",
        "0",
        "nan",
    ],
)
async def test_a_retry_after_that_names_no_time_to_come_is_passed_over(
    said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(
        "ras_flow.llms.remote.retry.wait_random_exponential",
        lambda **_: lambda _: waits.append(0.01) or 0.01,
    )
    unclear = Answer(status=429, headers={"retry-after": said})
    with serve("openai", unclear, Answer("Paris")) as server:
        (made,) = await client("openai", server).generate([PROMPT], max_new_tokens=9)
    assert made.text == "Paris" and len(waits) == 1, "it waits as where nothing is said"


async def test_total_time_is_bounded() -> None:
    with serve("openai", Answer(match="", status=429, headers={"retry-after": "5"})) as server:
        model = client("openai", server)
        model._retries = replace(model._retries, total=1.0)
        with pytest.raises(ModelUnavailableError):
            await model.generate([PROMPT], max_new_tokens=9)
    assert len(server.requests) == 1


@both
@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_not_retried_and_not_shown(kind: str, status: int) -> None:
    refused = Answer(match="", status=status, error=f"wrong key {KEY}")
    with serve(kind, refused) as server:
        with pytest.raises(AuthenticationError) as caught:
            await client(kind, server).generate([PROMPT], max_new_tokens=9)
    assert len(server.requests) == 1
    assert f"{kind.upper()}_API_KEY" in str(caught.value)
    assert KEY not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("status", "code"), [(402, "invalid_request_error"), (429, "insufficient_quota")]
)
async def test_a_key_without_credit_is_not_asked_again(status: int, code: str) -> None:
    class Unpaid(OpenAIServer):
        def failure(self, answer: Answer) -> dict[str, Any]:
            return {"error": {"message": "no credit", "type": code, "code": code}}

    with Unpaid([Answer(match="", status=status)]) as server:
        with pytest.raises(AuthenticationError, match=f"{status}.*OPENAI_API_KEY.*credit"):
            await client("openai", server).generate([PROMPT], max_new_tokens=9)
    assert len(server.requests) == 1


async def test_what_a_server_says_outside_of_openais_form_is_told() -> None:
    class Other(OpenAIServer):
        def failure(self, answer: Answer) -> dict[str, Any]:
            return {"detail": [{"loc": ["body", "stop"], "msg": answer.error}]}

    with Other([Answer(match="", status=422, error=f"too many, {KEY}")]) as server:
        with pytest.raises(ModelResponseError, match="'stop'.*too many") as caught:
            await client("openai", server).generate([PROMPT], max_new_tokens=9)
    assert KEY not in str(caught.value)


@both
@pytest.mark.parametrize(
    ("said", "told"), [(b"", "isconnected"), (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "SSH-2.0")]
)
async def test_what_is_wrong_with_a_connection_is_told(kind: str, said: bytes, told: str) -> None:
    asked = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(said)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        model = load_language_model(
            KINDS[kind][1], base_url=f"http://127.0.0.1:{port}", max_retries=1
        )
        with pytest.raises(ModelUnavailableError, match=f"2 attempts.*{told}") as caught:
            await model.generate([PROMPT], max_new_tokens=9)
    assert asked == 2
    assert "model_timeout" not in str(caught.value)


@both
@pytest.mark.parametrize("status", [400, 404, 409, 413, 422])
async def test_a_rejected_request_is_not_retried(kind: str, status: int) -> None:
    with serve(kind, Answer(match="", status=status, error=f"too long, {KEY}")) as server:
        with pytest.raises(
            ModelResponseError, match=r"(model_window|base_url).*too long"
        ) as caught:
            await client(kind, server).generate([PROMPT], max_new_tokens=9)
    assert len(server.requests) == 1
    assert KEY not in str(caught.value)


@both
@pytest.mark.parametrize("broken", ["cut", "garbage", "html"])
async def test_broken_answers_are_retried_then_reported(kind: str, broken: str) -> None:
    with serve(kind, Answer("Paris", match="", broken=broken)) as server:
        with pytest.raises(ModelUnavailableError):
            await client(kind, server, max_retries=1).generate([PROMPT], max_new_tokens=9)
    assert len(server.requests) == 2


@both
async def test_a_missing_page_points_to_the_address(kind: str) -> None:
    with serve(kind, Answer(match="", status=404)) as server:
        with pytest.raises(ModelResponseError, match=r"base_url.*/v1"):
            await client(kind, server).generate([PROMPT], max_new_tokens=9)


@both
@pytest.mark.parametrize("usage", [None, {}])
async def test_tokens_that_a_server_does_not_count_are_estimated(
    kind: str, usage: dict[str, Any] | None
) -> None:
    with serve(kind, Answer("Paris it is", fields={"usage": usage})) as server:
        (made,) = await client(kind, server).generate([PROMPT], max_new_tokens=9)
    assert made.text == "Paris it is"
    assert 5 < made.input_tokens < 30
    assert 2 < made.output_tokens < 9


CHOICE: dict[str, Any] = {
    "index": 0,
    "message": {"role": "assistant", "content": "(S> Aurora Bridge| P> de"},
}


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("openai", {"choices": []}),
        ("openai", {"choices": None}),
        ("openai", {"error": {"message": "no model is loaded"}}),
        ("openai", {"choices": [{**CHOICE, "finish_reason": "error"}]}),
        ("openai", {"choices": [{**CHOICE, "finish_reason": "abort"}]}),
        ("anthropic", {"content": None}),
    ],
)
async def test_an_answer_without_a_message_is_broken(kind: str, fields: dict[str, Any]) -> None:
    with serve(kind, Answer("Paris", fields=fields), Answer("Paris")) as server:
        (made,) = await client(kind, server).generate([PROMPT], max_new_tokens=9)
    assert made.text == "Paris"
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("kind", "fields", "why"),
    [
        ("openai", {"finish_reason": "content_filter", "message": {"content": "(S> Os"}}, "filter"),
        ("openai", {"finish_reason": "stop", "message": {"refusal": "I will not."}}, "I will not"),
        ("anthropic", {"stop_reason": "refusal"}, "refusal"),
    ],
)
async def test_a_passage_whose_answer_is_withheld_is_no_passage_without_triples(
    kind: str, fields: dict[str, Any], why: str
) -> None:
    if kind == "openai":
        fields["message"] = {"role": "assistant", "content": None, **fields["message"]}
        fields = {"choices": [{"index": 0, **fields}]}
    with serve(kind, Answer("", match="", fields=fields)) as server:
        extractor = make_extractor(client(kind, server))
        (made,) = await extractor.extract([make_passage("Oslo", "Oslo is a town.")])
    assert made.triples == []
    assert made.error is not None
    assert why in made.error
    assert len(server.requests) == 1


@both
@pytest.mark.parametrize("broken", ["cut", "closed", "garbage", "html", "event"])
async def test_broken_streams_are_no_answers(kind: str, broken: str) -> None:
    with serve(kind, Answer("a b c d", match="", broken=broken)) as server:
        model = client(kind, server, max_retries=1)
        model._chat = model._chat.model_copy(update={"streaming": True})
        with pytest.raises(ModelUnavailableError):
            await model.generate([PROMPT], max_new_tokens=9)
    assert [request["body"]["stream"] for request in server.requests] == [True, True]


@both
async def test_a_stream_that_broke_once_is_repeated(kind: str) -> None:
    with serve(kind, Answer("a b c d", broken="cut"), Answer("a b c d")) as server:
        model = client(kind, server)
        model._chat = model._chat.model_copy(update={"streaming": True})
        (made,) = await model.generate([PROMPT], max_new_tokens=9)
    assert made.text == "a b c d"


@both
async def test_slow_answers_time_out(kind: str) -> None:
    with serve(kind, Answer("late", delay=2), Answer("Paris")) as server:
        (made,) = await client(kind, server, timeout=0.5).generate([PROMPT], max_new_tokens=9)
        assert made.text == "Paris"
        assert len(server.requests) == 2


@both
async def test_a_server_that_is_too_slow_points_to_the_limit(kind: str) -> None:
    with serve(kind, Answer("late", match="", delay=1)) as server:
        model = client(kind, server, timeout=0.3, max_retries=0)
        with pytest.raises(ModelUnavailableError, match=r"within 0\.3 seconds.*model_timeout"):
            await model.generate([PROMPT], max_new_tokens=9)


async def test_no_server_at_all() -> None:
    with serve("openai") as server:
        model = client("openai", server, max_retries=1)
    with pytest.raises(ModelUnavailableError, match="2 attempts"):
        await model.generate([PROMPT], max_new_tokens=9)


@both
@pytest.mark.parametrize(
    "address",
    ["localhost:8000", "/v1", "http://", "ftp://host/v1", "http://h:port/v1", "http://[::1", "a b"],
)
def test_what_is_no_address_is_refused(
    kind: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigurationError, match=r"base_url .*http://localhost:8000/v1"):
        load_language_model(KINDS[kind][1], base_url=address)
    monkeypatch.setenv(f"{kind.upper()}_BASE_URL", address)
    with pytest.raises(ConfigurationError, match=f"{kind.upper()}_BASE_URL"):
        load_language_model(KINDS[kind][1])


def test_a_password_in_a_wrong_address_is_not_shown() -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_language_model("openai:m", base_url="http://user:hunter2@h:port/v1")
    assert "hunter2" not in str(caught.value)


async def test_one_failure_ends_the_others() -> None:
    script = (Answer(match="bad", status=400), Answer("late", match="", delay=0.5))
    prompts: list[list[Message]] = [[{"role": "user", "content": t}] for t in ("good", "bad")]
    with serve("openai", *script) as server:
        model = client("openai", server)
        with pytest.raises(ModelResponseError):
            await model.generate(prompts, max_new_tokens=9)
        assert not [t for t in asyncio.all_tasks() if t is not asyncio.current_task()]


@both
def test_works_from_one_event_loop_after_another(kind: str) -> None:
    with serve(kind, Answer("Paris", match="")) as server:
        model = client(kind, server, max_retries=0, max_concurrency=1)
        for _ in range(3):
            made = asyncio.run(model.generate([PROMPT, PROMPT], max_new_tokens=9))
            assert [one.text for one in made] == ["Paris", "Paris"]


async def test_address_and_key_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve("anthropic", Answer("Paris")) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        model = load_language_model("anthropic:claude-haiku-4-5")
        (made,) = await model.generate([PROMPT], max_new_tokens=9)
    assert made.text == "Paris"
    assert KEY in json.dumps(server.requests[0]["headers"])


async def test_servers_without_keys_need_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with serve("openai", Answer("Paris")) as server:
        (made,) = await client("openai", server).generate([PROMPT], max_new_tokens=9)
    assert made.text == "Paris"
    assert KEY not in json.dumps(server.requests[0]["headers"])


async def test_models_that_take_no_temperature_get_none() -> None:
    with AnthropicServer([Answer("Paris")]) as server:
        model = load_language_model("anthropic:claude-sonnet-5-5", base_url=server.url)
        (made,) = await model.generate([PROMPT], max_new_tokens=9, stop=["\nQuestion:"])
    assert made.text == "Paris"
    body = server.requests[0]["body"]
    assert "temperature" not in body
    assert body["max_tokens"] > 1000, "thinking counts as output"


async def test_unknown_models_that_refuse_the_temperature_are_asked_without() -> None:
    refusal = Answer(status=400, error="`temperature` is not supported by this model")
    with OpenAIServer([refusal, Answer("Paris", match="")]) as server:
        model = load_language_model("openai:some-future-model", base_url=server.url)
        for _ in range(2):
            (made,) = await model.generate([PROMPT], max_new_tokens=9)
            assert made.text == "Paris"
    sent = ["temperature" in request["body"] for request in server.requests]
    assert sent == [True, False, False]


@pytest.mark.parametrize(
    "refusal",
    [
        "Unsupported parameter: 'stop' is not supported with this model.",
        "Argument not supported on this model: stop",
        "Unable to submit request because the model does not support the stopSequences parameter.",
    ],
)
async def test_models_that_refuse_stop_strings_are_asked_without(refusal: str) -> None:
    """As OpenAI's reasoning models do; their outputs are cut all the same."""
    script = [Answer(status=400, error=refusal), Answer("Paris\nQuestion: x", match="")]
    with OpenAIServer(script) as server:
        model = client("openai", server)
        for _ in range(2):
            (made,) = await model.generate([PROMPT], max_new_tokens=9, stop=["\nQuestion:"])
            assert made.text == "Paris"
    sent = [request["body"].get("stop") for request in server.requests]
    assert sent == [["\nQuestion:"], None, None]


@pytest.mark.parametrize("thought", ["", "<think>France? Its", "<think>France?\nQuestion: is it"])
async def test_a_model_that_turns_out_to_think_first_is_given_room_for_it(thought: str) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        if body.get("max_tokens", body.get("max_completion_tokens")) < 1000:
            return Answer(thought, at_limit="Question" not in thought)
        return Answer("<think>France:\nQuestion: capital?</think>\nParis\nQuestion: x")

    with OpenAIServer(answer) as server:
        model = load_language_model("openai:some-reasoner", base_url=server.url)
        for calls in (2, 1):
            (made,) = await model.generate([PROMPT], max_new_tokens=9, stop=["\nQuestion:"])
            assert made.text.strip() == "Paris" and not made.truncated
            assert (made.input_tokens, made.output_tokens) == (calls * 11, calls * 7)
    assert [request["body"].get("stop") for request in server.requests] == [
        ["\nQuestion:"],
        None,
        None,
    ]


@pytest.mark.parametrize(
    "first",
    [
        Answer(f"<think>{'France? ' * 9}</think>\nPar", at_limit=True),
        Answer("<thought>France? That is a", at_limit=True),
        Answer(
            "Par",
            at_limit=True,
            fields={
                "usage": {
                    "prompt_tokens": 11,
                    "completion_tokens": 64,
                    "total_tokens": 75,
                    "completion_tokens_details": {"reasoning_tokens": 60},
                }
            },
        ),
        Answer("", output_tokens=40),
    ],
    ids=[
        "cut after thoughts",
        "cut in EXAONE's thoughts",
        "cut after unseen ones",
        "a stop string in unseen ones",
    ],
)
async def test_an_answer_that_thoughts_leave_no_room_is_asked_for_again(first: Answer) -> None:
    with OpenAIServer([first, Answer("Paris", match="")]) as server:
        model = client("openai", server)
        (made,) = await model.generate([PROMPT], max_new_tokens=9, stop=["\nQuestion:"])
    assert made.text == "Paris" and not made.truncated
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "answer",
    [Answer("", output_tokens=4), Answer("<think>\n\n</think>\n\nPar", at_limit=True)],
    ids=["a stop string at once", "thinking is switched off"],
)
async def test_an_answer_without_thoughts_is_taken_as_it_is(answer: Answer) -> None:
    """Else the model would be given room for thoughts, and no stop strings, from then on."""
    with OpenAIServer([answer]) as server:
        model = client("openai", server)
        (made,) = await model.generate([PROMPT], max_new_tokens=9, stop=["\nTitle:"])
    assert made.text.strip() in ("", "Par")


async def test_a_tool_call_in_place_of_text_is_told_and_changes_nothing() -> None:
    """It was taken for an answer lost to thoughts, for which a model is given room from then on."""
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": None, "tool_calls": [call]},
        "finish_reason": "tool_calls",
    }
    called = Answer(output_tokens=40, fields={"choices": [choice]})
    with OpenAIServer([called, Answer("Paris")]) as server:
        model = client("openai", server)
        with pytest.raises(ModelResponseError, match="called a tool \\('search'\\)"):
            await model.generate([PROMPT], max_new_tokens=9, stop=["\nQuestion:"])
        (made,) = await model.generate([PROMPT], max_new_tokens=9, stop=["\nQuestion:"])
    assert made.text == "Paris"
    assert [request["body"]["stop"] for request in server.requests] == [["\nQuestion:"]] * 2


@pytest.mark.parametrize("fields", [{}, {"usage": None}], ids=["counted", "not counted"])
async def test_what_langchains_cache_answers_costs_no_tokens(fields: dict[str, Any]) -> None:
    set_llm_cache(InMemoryCache())
    try:
        with OpenAIServer([Answer("Paris", fields=fields)]) as server:
            model = client("openai", server)
            (first,) = await model.generate([PROMPT], max_new_tokens=9)
            (again,) = await model.generate([PROMPT], max_new_tokens=9)
    finally:
        set_llm_cache(None)
    assert first.text == again.text == "Paris" and len(server.requests) == 1
    assert first.input_tokens > 0 < first.output_tokens
    assert (again.input_tokens, again.output_tokens) == (0, 0)


async def test_compatible_servers_are_told_the_limit_by_the_name_that_all_know() -> None:
    """Some pass over the newer name without a word; models of OpenAI's refuse the older."""
    refusal = Answer(status=400, error="Use 'max_completion_tokens' instead of 'max_tokens'.")
    with OpenAIServer([Answer("a"), refusal, Answer("b", match="")]) as server:
        model = load_language_model("openai:some-model", base_url=server.url)
        made = [await model.generate([PROMPT], max_new_tokens=9) for _ in range(3)]
    assert [one.text for (one,) in made] == ["a", "b", "b"]
    sent = [request["body"] for request in server.requests]
    assert [body.get("max_tokens") for body in sent] == [9, 9, None, None]
    assert [body.get("max_completion_tokens") for body in sent] == [None, None, 9, 9]


async def test_any_langchain_chat_model_can_be_passed() -> None:
    model = ChatLanguageModel(FakeListChatModel(responses=["Paris\nQuestion: x"]))
    (made,) = await model.generate([PROMPT], max_new_tokens=9, stop=["\nQuestion:"])
    assert made.text == "Paris"
    assert made.input_tokens > 0 and made.output_tokens > 0


async def test_a_model_that_remembers_is_asked_itself_whatever_the_limit() -> None:
    chat = FakeListChatModel(responses=["one", "two", "three"])
    planner, answerer = ChatLanguageModel(chat), ChatLanguageModel(chat)
    said = [
        (await model.generate([PROMPT], max_new_tokens=limit))[0].text
        for model, limit in ((planner, 100), (planner, 200), (answerer, 50))
    ]
    assert said == ["one", "two", "three"]


async def test_errors_of_the_callers_own_model_are_passed_on() -> None:
    class Faulty(FakeListChatModel):
        def _call(self, *args: object, **kwargs: object) -> str:
            raise LookupError("own error")

    with pytest.raises(LookupError, match="own error"):
        await ChatLanguageModel(Faulty(responses=[])).generate([PROMPT], max_new_tokens=9)


class GatewayError(Exception):
    """An error of a client that tells its status otherwise than httpx."""


def of_httpx(status: int) -> Exception:
    request = httpx.Request("POST", "http://x")
    return httpx.HTTPStatusError("x", request=request, response=httpx.Response(status))


def of_amazon(code: str, status: int) -> Exception:
    error = GatewayError(code)
    error.response = {  # type: ignore[attr-defined]
        "Error": {"Code": code},
        "ResponseMetadata": {"HTTPStatusCode": status},
    }
    return error


def of_google(status: int) -> Exception:
    error = GatewayError(f"{status} of Google")
    error.code, error.status = status, "DENIED"  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    ("error", "told", "attempts"),
    [
        (of_httpx(401), AuthenticationError, 1),
        (of_httpx(404), ModelResponseError, 1),
        (of_httpx(429), ModelUnavailableError, 2),
        (of_httpx(503), ModelUnavailableError, 2),
        (of_amazon("AccessDeniedException", 403), AuthenticationError, 1),
        (of_amazon("ValidationException", 400), ModelResponseError, 1),
        (of_amazon("ThrottlingException", 400), ModelUnavailableError, 2),
        (of_amazon("InternalServerException", 500), ModelUnavailableError, 2),
        (of_google(403), AuthenticationError, 1),
        (of_google(400), ModelResponseError, 1),
        (of_google(429), ModelUnavailableError, 2),
        (ModelAuthenticationError("API key not valid"), AuthenticationError, 1),
        (ModelPermissionDeniedError("not yours"), AuthenticationError, 1),
        (requests.ReadTimeout("slow"), ModelUnavailableError, 2),
        (requests.exceptions.ChunkedEncodingError("cut"), ModelUnavailableError, 2),
    ],
)
async def test_errors_of_other_providers_clients_are_told_apart(
    error: Exception, told: type[Exception], attempts: int
) -> None:
    class Refused(FakeListChatModel):
        def _call(self, *args: object, **kwargs: object) -> str:
            calls.append(error)
            raise error

    calls: list[Exception] = []
    model = ChatLanguageModel(Refused(responses=[]), max_retries=1)
    model._retries = replace(model._retries, first_wait=0.01)
    with pytest.raises(told):
        await model.generate([PROMPT], max_new_tokens=9)
    assert len(calls) == attempts


def test_window_follows_the_models_profile() -> None:
    known = load_language_model("anthropic:claude-haiku-4-5")
    unknown = load_language_model("openai:unknown", base_url="http://localhost:1/v1")
    assert 190_000 < known.window < 200_000
    assert unknown.window == 8000
    told = load_language_model("openai:unknown", base_url="http://localhost:1/v1", window=4096)
    assert 3000 < told.window < 4096


def test_identity_tells_settings_apart_and_keeps_secrets() -> None:
    names = ["openai:gpt-4.1-mini", "openai:gpt-4.1", "anthropic:claude-haiku-4-5"]
    urls = ["http://localhost:1/v1", "http://localhost:2/v1", "http://localhost:2/hunter2/v1"]
    found = {
        load_language_model(name, base_url=url).identity: None for name in names for url in urls
    }
    assert len(found) == 9
    assert not any(secret in identity for identity in found for secret in (KEY, "hunter2"))
    again = load_language_model(names[0], base_url=urls[0]).identity
    assert again in found
    given = [ChatOpenAI(model="gpt-4.1", temperature=warmth) for warmth in (0.0, 0.0, 1.0)]
    assert len({ChatLanguageModel(model).identity for model in given}) == 2
    routed = [ChatOpenAI(model="m", default_query={"to": name}) for name in ("a", "b")]
    assert len({ChatLanguageModel(model).identity for model in routed}) == 2


@both
def test_identity_is_the_same_however_long_is_waited(kind: str) -> None:
    """Triples are kept by it: a longer timeout must not have a whole corpus read again."""
    settings: list[dict[str, Any]] = [{}, {"timeout": 300.0}, {"max_retries": 0}]
    assert len({load_language_model(KINDS[kind][1], **some).identity for some in settings}) == 1


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
def test_identity_tells_servers_of_the_environment_apart(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {load_language_model("openai:m").identity}
    for port in (1, 2):
        monkeypatch.setenv(variable, f"http://localhost:{port}/hunter2/v1")
        found |= {load_language_model("openai:m").identity}
        assert any(f"m@localhost:{port}" in identity for identity in found)
    assert len(found) == 3 and not any("hunter2" in identity for identity in found)


@pytest.mark.parametrize("name", ["gpt-4.1", "nobody:model", "test:model", "openai:", ":x", ""])
def test_unknown_names_show_examples(name: str) -> None:
    with pytest.raises(ConfigurationError, match="anthropic:claude"):
        load_language_model(name)


@both
def test_a_missing_key_names_its_variable(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(f"{kind.upper()}_API_KEY")
    with pytest.raises(ConfigurationError, match=f"{kind.upper()}_API_KEY"):
        load_language_model(KINDS[kind][1])


@both
def test_a_key_is_sent_without_the_end_of_its_line_and_else_refused(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = load_language_model(KINDS[kind][1])
    variable = f"{kind.upper()}_API_KEY"
    monkeypatch.setenv(variable, f"{KEY}\n")
    assert isinstance(plain, ChatLanguageModel)
    mounted = load_language_model(KINDS[kind][1])
    assert isinstance(mounted, ChatLanguageModel)
    assert mounted._endpoint.secrets == plain._endpoint.secrets == (KEY,)
    monkeypatch.setenv(variable, "sk-ключ")
    with pytest.raises(ConfigurationError, match=variable) as caught:
        load_language_model(KINDS[kind][1])
    assert "sk-" not in str(caught.value)


def test_an_address_with_a_password_is_refused_where_it_cannot_be_sent() -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY") as caught:
        load_language_model("openai:m", base_url="http://user:hunter2@localhost:1/v1")
    assert "hunter2" not in str(caught.value)


@both
def test_a_missing_package_names_its_extra(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, f"langchain_{kind}", None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'ras-flow\[{kind}\]'"):
        load_language_model(KINDS[kind][1])


def test_another_providers_missing_settings_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match="azure_openai:m.*OPENAI_API_VERSION") as caught:
        load_language_model("azure_openai:m")
    assert KEY not in str(caught.value)


def test_another_providers_missing_package_is_named() -> None:
    with pytest.raises(MissingExtraError, match="langchain-mistralai"):
        load_language_model("mistralai:mistral-small")


@given(st.text(), st.text())
def test_token_estimates_add_up(one: str, other: str) -> None:
    count = ChatLanguageModel(FakeListChatModel(responses=[])).count_tokens
    together = count(one + other)
    assert together <= count(one) + count(other) <= together + 1
    assert together >= len((one + other).encode()) / 4 - 1 or not (one + other).isascii()


def test_every_cjk_character_counts() -> None:
    count = ChatLanguageModel(FakeListChatModel(responses=[])).count_tokens
    assert count("東京は日本の首都") == 8
    assert count("abcde") == 2
    assert count("") == 0


def test_importing_is_light() -> None:
    heavy = "torch transformers langchain_openai langchain_anthropic openai anthropic".split()
    code = f"import sys, ras_flow.llms; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_server_runs_as_a_process_of_its_own(tmp_path: Path) -> None:
    script, log = tmp_path / "script.json", tmp_path / "log.jsonl"
    script.write_text(json.dumps([{"match": "France", "text": "Paris"}, {"text": "once"}]))
    command = [sys.executable, "-m", "tests.servers.openai_server"]
    command += ["--port", "0", "--script", str(script), "--log", str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            model = load_language_model("openai:any", base_url=url)
            other: list[Message] = [{"role": "user", "content": "Other?"}]
            made = asyncio.run(model.generate([PROMPT, PROMPT, other], max_new_tokens=9))
            assert [one.text for one in made] == ["Paris", "Paris", "once"]
            with pytest.raises(ModelResponseError, match="no answer"):
                asyncio.run(model.generate([other], max_new_tokens=9))
        finally:
            process.kill()
    logged = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(logged) == 4
    assert KEY not in log.read_text()
