"""Failures of model servers: what is tried again, and how the rest is told."""

from __future__ import annotations

import asyncio
from itertools import product
from typing import Any

import httpx
import pytest
import requests
from langchain_core.exceptions import ModelAuthenticationError, ModelPermissionDeniedError
from langchain_core.language_models import FakeListChatModel

from ras_flow.errors import AuthenticationError, ModelResponseError, ModelUnavailableError
from ras_flow.llms import ChatLanguageModel, load_language_model
from tests.llms.remote_models import KEY, KINDS, PROMPT, both, client, serve
from tests.servers import Answer, OpenAIServer

pytestmark = pytest.mark.usefixtures("providers")


@both
@pytest.mark.parametrize("status", [429, 529])
async def test_passing_failures_are_retried(kind: str, status: int) -> None:
    wait = Answer(status=status, headers={"retry-after": "0.4"})
    with serve(kind, Answer(status=status), wait, Answer("Paris")) as server:
        (made,) = await client(kind, server).generate([PROMPT], max_new_tokens=9)
    assert made.text == "Paris"
    _, second, third = (request["at"] for request in server.requests)
    assert third - second > 0.4, "the server's wish is honoured"


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
    assert KEY not in message


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
async def test_a_key_without_credit_is_told(status: int, code: str) -> None:
    class Unpaid(OpenAIServer):
        def failure(self, answer: Answer) -> dict[str, Any]:
            return {"error": {"message": "no credit", "type": code, "code": code}}

    with Unpaid([Answer(match="", status=status)]) as server:
        with pytest.raises(AuthenticationError, match="OPENAI_API_KEY.*credit"):
            await client("openai", server, max_retries=0).generate([PROMPT], max_new_tokens=9)


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
        with pytest.raises(ModelUnavailableError, match=told) as caught:
            await model.generate([PROMPT], max_new_tokens=9)
    assert asked == 2
    assert "model_timeout" not in str(caught.value)


@both
@pytest.mark.parametrize(
    ("status", "check"),
    [(400, "model_window"), (404, r"base_url.*/v1"), (413, "model_window"), (422, "model_window")],
)
async def test_a_rejected_request_is_not_retried(kind: str, status: int, check: str) -> None:
    with serve(kind, Answer(match="", status=status, error=f"too long, {KEY}")) as server:
        with pytest.raises(ModelResponseError, match=f"{check}.*too long") as caught:
            await client(kind, server).generate([PROMPT], max_new_tokens=9)
    assert len(server.requests) == 1
    assert KEY not in str(caught.value)


@both
@pytest.mark.parametrize(
    ("streaming", "broken"),
    [*product([False, True], ["cut", "garbage", "html"]), (True, "closed"), (True, "event")],
)
async def test_broken_answers_are_retried_then_reported(
    kind: str, streaming: bool, broken: str
) -> None:
    with serve(kind, Answer("a b c d", match="", broken=broken)) as server:
        model = client(kind, server, max_retries=1)
        model._chat = model._chat.model_copy(update={"streaming": streaming})
        with pytest.raises(ModelUnavailableError):
            await model.generate([PROMPT], max_new_tokens=9)
    assert {request["body"].get("stream", False) for request in server.requests} == {streaming}
    assert streaming or len(server.requests) == 2


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


@both
async def test_slow_answers_time_out_and_point_to_the_limit(kind: str) -> None:
    with serve(kind, Answer("late", delay=2), Answer("Paris"), Answer("late", delay=1)) as server:
        (made,) = await client(kind, server, timeout=0.5).generate([PROMPT], max_new_tokens=9)
        assert made.text == "Paris"
        hasty = client(kind, server, timeout=0.3, max_retries=0)
        with pytest.raises(ModelUnavailableError, match="model_timeout"):
            await hasty.generate([PROMPT], max_new_tokens=9)


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
    with pytest.raises(told):
        await model.generate([PROMPT], max_new_tokens=9)
    assert len(calls) == attempts
