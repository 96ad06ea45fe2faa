"""What a chat model is asked, and what of its answer is taken."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.caches import InMemoryCache
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import FakeListChatModel
from langchain_core.rate_limiters import InMemoryRateLimiter
from langgraph.graph import START, StateGraph

from ras_flow.errors import ModelResponseError, ModelUnavailableError
from ras_flow.llms import ChatLanguageModel, load_language_model
from ras_flow.parts import Message
from ras_flow.parts.prompted import make_extractor
from ras_flow.state.schema import make_passage
from tests.llms.remote_models import KINDS, PROMPT, STOP, both, client, serve
from tests.servers import Answer, AnthropicServer, OpenAIServer
from tests.servers.scripted import AtOnce, last_message

pytestmark = pytest.mark.usefixtures("providers")


@both
async def test_answer_usage_and_settings(kind: str) -> None:
    whole = Answer("Paris.\nQuestion: next", input_tokens=21, output_tokens=5)
    with serve(kind, whole, Answer("Par", at_limit=True)) as server:
        model = client(kind, server)
        (made,) = await model.generate([PROMPT], max_new_tokens=30, stop=STOP)
        (cut,) = await model.generate([PROMPT], max_new_tokens=1)
    assert (made.text, made.input_tokens, made.output_tokens) == ("Paris.", 21, 5)
    assert cut.truncated and not made.truncated
    body = server.requests[0]["body"]
    assert body["temperature"] == 0
    assert body.get("max_tokens", body.get("max_completion_tokens")) == 30
    assert body.get("stop", body.get("stop_sequences")) == STOP
    assert "Be brief." in json.dumps(body)


@both
async def test_prompts_run_at_once_in_order_and_bounded(kind: str) -> None:
    script = AtOnce(last_message)
    prompts: list[list[Message]] = [[{"role": "user", "content": f"n{i}"}] for i in range(7)]
    with KINDS[kind][0](script) as server:
        model = client(kind, server, max_concurrency=3)
        halves = await asyncio.gather(
            model.generate(prompts[:4], max_new_tokens=5),
            model.generate(prompts[4:], max_new_tokens=5),
        )
    assert [made.text for half in halves for made in half] == [f"n{i}" for i in range(7)]
    assert script.most == 3


class Slow(FakeListChatModel):
    async def _agenerate(self, *args: object, **kwargs: object) -> Any:
        await asyncio.sleep(9)


async def test_only_the_models_own_time_counts_against_its_timeout() -> None:
    """Neither the wait for a slot does, nor that for the model's own rate limit."""
    slow = FakeListChatModel(responses=["Paris"], sleep=0.1)
    queued = ChatLanguageModel(slow, timeout=0.5, max_retries=0, max_concurrency=1)
    limiter = InMemoryRateLimiter(requests_per_second=5, check_every_n_seconds=0.01)
    chat = FakeListChatModel(responses=["Paris"], rate_limiter=limiter)
    limited = ChatLanguageModel(chat, timeout=0.5, max_retries=0)
    began = time.monotonic()
    for model in (queued, limited):
        made = await model.generate([PROMPT] * 7, max_new_tokens=9)
        assert [one.text for one in made] == ["Paris"] * 7
    assert time.monotonic() - began > 1.7
    hanging = ChatLanguageModel(Slow(responses=[]), timeout=0.1, max_retries=1)
    with pytest.raises(ModelUnavailableError, match="model_timeout"):
        await hanging.generate([PROMPT], max_new_tokens=9)


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
@pytest.mark.parametrize("usage", [None, {}])
async def test_tokens_that_a_server_does_not_count_are_estimated(
    kind: str, usage: dict[str, Any] | None
) -> None:
    with serve(kind, Answer("Paris it is", fields={"usage": usage})) as server:
        (made,) = await client(kind, server).generate([PROMPT], max_new_tokens=9)
    assert made.text == "Paris it is"
    assert 5 < made.input_tokens < 30
    assert 2 < made.output_tokens < 9


@pytest.mark.parametrize(
    ("kind", "fields", "why"),
    [
        ("openai", {"finish_reason": "content_filter", "message": {"content": "(S> Os"}}, "filter"),
        ("openai", {"finish_reason": "stop", "message": {"refusal": "I will not."}}, "I will not"),
        ("anthropic", {"stop_reason": "refusal"}, "refusal"),
    ],
)
async def test_a_passage_whose_answer_is_withheld_fails(
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


async def test_one_failure_ends_the_others() -> None:
    script = (Answer(match="bad", status=400), Answer("late", match="", delay=0.5))
    prompts: list[list[Message]] = [[{"role": "user", "content": t}] for t in ("good", "bad")]
    with serve("openai", *script) as server:
        model = client("openai", server)
        with pytest.raises(ModelResponseError):
            await model.generate(prompts, max_new_tokens=9)
        assert not [t for t in asyncio.all_tasks() if t is not asyncio.current_task()]


async def test_cached_tokens_are_counted_and_anthropic_is_told_what_to_keep() -> None:
    details = {"prompt_tokens_details": {"cached_tokens": 4}}
    openai = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10, **details}
    anthropic = {"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 4}
    for kind, usage in (("openai", openai), ("anthropic", anthropic)):
        with serve(kind, Answer("Paris", fields={"usage": usage})) as server:
            (made,) = await client(kind, server).generate([PROMPT], max_new_tokens=9)
        assert (made.input_tokens, made.cached_tokens) == (9, 4)
        assert ("cache_control" in json.dumps(server.requests[0]["body"])) == (kind == "anthropic")


async def test_models_that_take_no_temperature_get_none() -> None:
    with AnthropicServer([Answer("Paris")]) as server:
        model = load_language_model("anthropic:claude-sonnet-5-5", base_url=server.url)
        (made,) = await model.generate([PROMPT], max_new_tokens=9, stop=STOP)
    assert made.text == "Paris"
    body = server.requests[0]["body"]
    assert "temperature" not in body
    assert body["max_tokens"] > 1000, "thinking counts as output"


NO_SYSTEM = [
    "System role not supported",  # Gemma's template, in vLLM
    "Conversation roles must alternate user/assistant/user/assistant/...",  # Mistral's
    "Only user and assistant roles are supported!",
    "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    "Developer instruction is not enabled for models/gemma-3-27b-it",
    "This model doesn't support system messages. Try again without a system message.",
]


@pytest.mark.parametrize("refusal", NO_SYSTEM)
async def test_a_model_without_a_system_role_is_told_in_the_users_message(refusal: str) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        has_system = any(message["role"] == "system" for message in body["messages"])
        return Answer(status=400, error=refusal) if has_system else Answer("Paris")

    with OpenAIServer(answer) as server:
        model = load_language_model("openai:gemma-2-9b-it", base_url=server.url)
        for _ in range(2):
            (made,) = await model.generate([PROMPT], max_new_tokens=9)
            assert made.text == "Paris"
    told = [[message["content"] for message in it["body"]["messages"]] for it in server.requests]
    assert told[1:] == [["Be brief.\n\nCapital of France?"]] * 2


async def test_another_refusal_with_a_system_role_is_told() -> None:
    with OpenAIServer([Answer(match="", status=400, error="System role not supported")]) as server:
        with pytest.raises(ModelResponseError, match="System role"):
            await client("openai", server).generate([PROMPT], max_new_tokens=9)
    assert len(server.requests) == 2


async def test_a_prompt_of_a_system_message_alone_is_not_asked_again_and_again() -> None:
    with OpenAIServer([Answer(match="", status=400, error="System role not supported")]) as server:
        with pytest.raises(ModelResponseError, match="System role"):
            await client("openai", server).generate([PROMPT[:1]], max_new_tokens=9)
    assert len(server.requests) == 1


REFUSED_STOPS = [
    "Unsupported parameter: 'stop' is not supported with this model.",
    "Argument not supported on this model: stop",
    "Unable to submit request because the model does not support the stopSequences parameter.",
]


@pytest.mark.parametrize(
    ("refusal", "setting"),
    [("`temperature` is not supported by this model", "temperature")]
    + [(said, "stop") for said in REFUSED_STOPS],
)
async def test_a_setting_that_a_model_refuses_is_left_out_from_then_on(
    refusal: str, setting: str
) -> None:
    script = [Answer(status=400, error=refusal), Answer("Paris\nQuestion: x", match="")]
    with OpenAIServer(script) as server:
        model = load_language_model("openai:some-future-model", base_url=server.url)
        for _ in range(2):
            (made,) = await model.generate([PROMPT], max_new_tokens=9, stop=STOP)
            assert made.text == "Paris"
    assert [setting in request["body"] for request in server.requests] == [True, False, False]


@pytest.mark.parametrize("thought", ["", "<think>France? Its", "<think>France?\nQuestion: is it"])
async def test_a_model_that_turns_out_to_think_first_is_given_room_for_it(thought: str) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        if body.get("max_tokens", body.get("max_completion_tokens")) < 1000:
            return Answer(thought, at_limit="Question" not in thought)
        return Answer("<think>France:\nQuestion: capital?</think>\nParis\nQuestion: x")

    with OpenAIServer(answer) as server:
        model = load_language_model("openai:some-reasoner", base_url=server.url)
        for calls in (2, 1):
            (made,) = await model.generate([PROMPT], max_new_tokens=9, stop=STOP)
            assert made.text.strip() == "Paris" and not made.truncated
            assert (made.input_tokens, made.output_tokens) == (calls * 11, calls * 7)
    assert [request["body"].get("stop") for request in server.requests] == [STOP, None, None]


HIDDEN: dict[str, Any] = {"prompt_tokens": 11, "completion_tokens": 64, "total_tokens": 75}
HIDDEN |= {"completion_tokens_details": {"reasoning_tokens": 60}}
HIDDEN |= {"prompt_tokens_details": {"cached_tokens": 5}}


@pytest.mark.parametrize(
    ("first", "asked"),
    [
        (Answer(f"<think>{'France? ' * 9}</think>\nPar", at_limit=True), 2),
        (Answer("<thought>France? That is a", at_limit=True), 2),
        (Answer("Par", at_limit=True, fields={"usage": HIDDEN}), 2),
        (Answer("", output_tokens=40), 2),  # a stop string in hidden thoughts
        (Answer("", output_tokens=4), 1),  # a stop string at once
        (Answer("<think>\n\n</think>\n\nPar", at_limit=True), 1),  # thinking is switched off
    ],
)
async def test_an_answer_that_thoughts_leave_no_room_is_asked_for_again(
    first: Answer, asked: int
) -> None:
    """Others must not be: the model would get room for thoughts, and no stop strings, for good."""
    with OpenAIServer([first, Answer("Paris", match="")]) as server:
        model = client("openai", server)
        (made,) = await model.generate([PROMPT], max_new_tokens=9, stop=STOP)
    assert len(server.requests) == asked
    assert made.text.strip() == "Paris" if asked == 2 else made.text.strip() in ("", "Par")
    assert asked == 1 or not made.truncated
    assert made.cached_tokens == 5 * bool(first.fields)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize("streaming", [False, True])
async def test_text_that_a_server_takes_for_reasoning_is_told(name: str, streaming: bool) -> None:
    hidden = Answer(match="", output_tokens=3, reasoning={name: "Paris"})
    with OpenAIServer([hidden]) as server:
        model = client("openai", server)
        model._chat = model._chat.model_copy(update={"streaming": streaming})
        with pytest.raises(ModelResponseError, match="reasoning parser"):
            await model.generate([PROMPT], max_new_tokens=9, stop=STOP)
    assert [request["body"].get("stop") for request in server.requests] == [STOP, None]


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
            await model.generate([PROMPT], max_new_tokens=9, stop=STOP)
        (made,) = await model.generate([PROMPT], max_new_tokens=9, stop=STOP)
    assert made.text == "Paris"
    assert [request["body"]["stop"] for request in server.requests] == [STOP] * 2


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


async def test_a_chat_model_that_is_given_is_asked_itself_whatever_the_limit() -> None:
    chat = FakeListChatModel(responses=["one\nQuestion: x", "two", "three"])
    planner, answerer = ChatLanguageModel(chat), ChatLanguageModel(chat)
    calls = (planner, 100, "one"), (planner, 200, "two"), (answerer, 5, "three")
    for model, limit, text in calls:
        (made,) = await model.generate([PROMPT], max_new_tokens=limit, stop=STOP)
        assert made.text == text and made.input_tokens > 0 and made.output_tokens > 0


@given(st.text(), st.text())
def test_token_estimates_add_up(one: str, other: str) -> None:
    count = ChatLanguageModel(FakeListChatModel(responses=[])).count_tokens
    together = count(one + other)
    assert together <= count(one) + count(other) <= together + 1
    assert together >= len((one + other).encode()) / 4 - 1 or not (one + other).isascii()
    assert count("東京は日本の首都") == 8 and count("abcde") == 2
