"""JSON schemas for chat models: servers that take, ignore or reject them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ras_flow.errors import ModelResponseError
from ras_flow.llms import ChatLanguageModel, load_language_model
from ras_flow.llms.remote.schemas import PROBE
from ras_flow.parts.prompted import make_extractor
from ras_flow.prompts.extractor import SCHEMA, TRAINED_INSTRUCTION
from ras_flow.state.schema import Passage
from tests.servers import Answer, AnthropicServer, OpenAIServer, ScriptedServer
from tests.servers.scripted import last_message

FACTS = [("Mira Lund", "place of birth", "Narvik"), ("Mira Lund", "occupation", "engineer")]
FREE = ", ".join(f"(S> {s}| P> {p}| O> {o})" for s, p, o in FACTS)
NAMES = ("subject", "predicate", "object")
JSON = json.dumps({"triples": [dict(zip(NAMES, fact, strict=True)) for fact in FACTS]})
PASSAGE = Passage(id="p", title="Mira Lund", text="Mira Lund, an engineer, was born in Narvik.")


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("OPENAI_API_KEY", "k")


def schema_of(body: dict[str, Any]) -> Any:
    if "response_format" in body:
        assert body["response_format"]["type"] == "json_schema"
        return body["response_format"]["json_schema"]["schema"]
    return ((body.get("output_config") or {}).get("format") or {}).get("schema")


def takes(body: dict[str, Any]) -> Answer:
    return Answer(JSON if schema_of(body) else FREE)


def ignores(body: dict[str, Any]) -> Answer:
    return Answer(FREE)


def wraps(body: dict[str, Any]) -> Answer:
    return Answer(f"Here you are:\n```json\n{JSON}\n```")


def rejects(body: dict[str, Any]) -> Answer:
    if schema_of(body):
        return Answer(status=400, error="response_format is not supported")
    return Answer(JSON if "JSON" in json.dumps(body["messages"][0]) else FREE)


def model_of(server: ScriptedServer) -> ChatLanguageModel:
    kind = "anthropic:claude-haiku-4-5" if isinstance(server, AnthropicServer) else "openai:m"
    model = load_language_model(kind, base_url=server.url, max_retries=0)
    assert isinstance(model, ChatLanguageModel)
    return model


@pytest.mark.parametrize("server_type", [OpenAIServer, AnthropicServer])
@pytest.mark.parametrize("behaviour", [takes, ignores, wraps, rejects])
async def test_every_server_gives_the_same_triples(
    server_type: type[ScriptedServer], behaviour: Callable[[dict[str, Any]], Answer]
) -> None:
    with server_type(behaviour) as server:
        model = model_of(server)
        [free] = await make_extractor(model).extract([PASSAGE])
        [made] = await make_extractor(model, "json").extract([PASSAGE])
    assert made.triples == FACTS and (made.error, made.dropped) == (None, [])
    if behaviour is not wraps:
        assert free.triples == made.triples
    first, probe, *_, last = [request["body"] for request in server.requests]
    assert schema_of(first) is None
    assert schema_of(probe) == SCHEMA and PROBE[0]["content"] in json.dumps(probe)
    assert PASSAGE["text"] not in json.dumps(probe)
    assert schema_of(last) == (SCHEMA if behaviour is takes else None)


@pytest.mark.parametrize(
    ("behaviour", "schemas", "said"),
    [
        (takes, [True, True, True], None),
        (ignores, [True, False, False], "m at .* ignores them"),
        (wraps, [True, False, False], "m at .* ignores them"),
        (rejects, [True, False, False, False], "rejects them .*response_format is not supported"),
    ],
)
async def test_a_server_is_probed_once_before_any_passage(
    behaviour: Any, schemas: list[bool], said: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    with OpenAIServer(behaviour) as server:
        extractor = make_extractor(model_of(server), "json")
        for _ in range(2):
            [made] = await extractor.extract([PASSAGE])
            assert made.triples == FACTS
    assert [bool(schema_of(request["body"])) for request in server.requests] == schemas
    assert len(caplog.messages) == (said is not None)
    assert said is None or re.search(said, caplog.text)


async def test_who_comes_at_once_is_warned_once(caplog: pytest.LogCaptureFixture) -> None:
    with OpenAIServer(lambda body: replace(ignores(body), delay=0.1)) as server:
        extractor = make_extractor(model_of(server), "json")
        passages = [Passage(id=id, title="", text=id) for id in "abc"]
        await asyncio.gather(*(extractor.extract([passage]) for passage in passages))
    assert len(caplog.messages) == 1


async def test_a_model_that_is_still_thinking_is_taken_to_write_by_the_schema() -> None:
    def script(body: dict[str, Any]) -> Answer:
        return Answer("", at_limit=True) if "ready" in last_message(body) else takes(body)

    with OpenAIServer(script) as server:
        [made] = await make_extractor(model_of(server), "json").extract([PASSAGE])
    assert made.triples == FACTS and schema_of(server.requests[-1]["body"]) == SCHEMA


async def test_a_server_that_answers_nothing_at_all_is_probed_again() -> None:
    found = False

    def script(body: dict[str, Any]) -> Answer:
        return takes(body) if found else Answer(status=404, error="no such model")

    with OpenAIServer(script) as server:
        extractor = make_extractor(model_of(server), "json")
        [failed] = await extractor.extract([PASSAGE])
        found = True
        [made] = await extractor.extract([PASSAGE])
    assert failed.error and "no such model" in failed.error
    assert made.triples == FACTS and schema_of(server.requests[-1]["body"]) == SCHEMA


async def test_a_passage_that_is_rejected_ends_no_schema() -> None:
    def script(body: dict[str, Any]) -> Answer:
        if "Bad" in last_message(body):
            return Answer(status=400, error="this text is not allowed")
        return takes(body)

    with OpenAIServer(script) as server:
        extractor = make_extractor(model_of(server), "json")
        bad, good = await extractor.extract([{**PASSAGE, "id": "b", "title": "Bad"}, PASSAGE])
        [again] = await extractor.extract([PASSAGE])
    assert bad.error and "not allowed" in bad.error
    assert good.triples == again.triples == FACTS
    assert schema_of(server.requests[-1]["body"]) == SCHEMA


async def test_an_output_that_is_cut_keeps_its_whole_triples() -> None:
    with OpenAIServer(lambda _: Answer(JSON[:-20], at_limit=True)) as server:
        [made] = await make_extractor(model_of(server), "json").extract([PASSAGE])
    assert made.triples == FACTS[:1] and made.dropped


async def test_without_a_schema_a_rejection_stays_one() -> None:
    with OpenAIServer(lambda _: Answer(status=400)) as server:
        with pytest.raises(ModelResponseError):
            await model_of(server).generate([[{"role": "user", "content": "x"}]], max_new_tokens=5)
    assert len(server.requests) == 1


@pytest.mark.parametrize("kind", [OpenAIServer, AnthropicServer])
async def test_a_served_model_that_was_trained_is_asked_as_it_was_trained(kind: Any) -> None:
    with kind(ignores) as server:
        model = model_of(server)
        extractor = make_extractor(model, "trained")
        [made] = await extractor.extract([PASSAGE])
        told = json.dumps(server.requests[-1]["body"])
    assert made.triples == FACTS
    assert TRAINED_INSTRUCTION in told and "Pier House" not in told
    assert extractor.identity not in (make_extractor(model).identity, model.identity)
