"""JSON schemas for chat models: servers that take, ignore or reject them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ras_flow.errors import ModelResponseError
from ras_flow.llms import ChatLanguageModel, load_language_model
from ras_flow.parts.prompted import make_extractor
from ras_flow.prompts.extractor import SCHEMA, TRAINED_INSTRUCTION
from ras_flow.state.schema import Passage
from tests.servers import Answer, AnthropicServer, OpenAIServer, ScriptedServer
from tests.servers.scripted import last_message

FACTS = [("Mira Lund", "place of birth", "Narvik"), ("Mira Lund", "occupation", "engineer")]
FREE = ", ".join(f"(S> {s}| P> {p}| O> {o})" for s, p, o in FACTS)
NAMES = ("subject", "predicate", "object")
JSON = json.dumps(
    {"facts": [{**dict(zip(NAMES, fact, strict=True)), "passages": [1]} for fact in FACTS]}
)
PASSAGE = Passage(id="p", title="Mira Lund", text="Mira Lund, an engineer, was born in Narvik.")

pytestmark = pytest.mark.usefixtures("providers")
servers = pytest.mark.parametrize("server_type", [OpenAIServer, AnthropicServer])


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


@servers
@pytest.mark.parametrize("behaviour", [takes, ignores, wraps, rejects])
async def test_every_server_gives_the_same_triples(
    server_type: type[ScriptedServer],
    behaviour: Callable[[dict[str, Any]], Answer],
    caplog: pytest.LogCaptureFixture,
) -> None:
    with server_type(behaviour) as server:
        extractor = make_extractor(model_of(server), "json")
        for _ in range(2):
            [made] = await extractor.extract([PASSAGE])
            assert made.triples == FACTS and (made.error, made.dropped) == (None, [])
    rejected = behaviour is rejects
    sent = [schema_of(request["body"]) for request in server.requests]
    assert sent == [SCHEMA, None, None] if rejected else [SCHEMA, SCHEMA]
    assert len(caplog.messages) == rejected


async def test_a_passage_that_is_rejected_ends_no_schema() -> None:
    def script(body: dict[str, Any]) -> Answer:
        if "Bad" in last_message(body):
            return Answer(status=400, error="this text is not allowed")
        return takes(body)

    with OpenAIServer(script) as server:
        extractor = make_extractor(model_of(server), "json")
        bad, good = await extractor.extract([{**PASSAGE, "id": "b", "title": "Bad"}, PASSAGE])
    assert bad.error and "not allowed" in bad.error and good.triples == FACTS
    assert all(schema_of(request["body"]) == SCHEMA for request in server.requests)


async def test_an_output_that_is_cut_keeps_its_whole_triples() -> None:
    with OpenAIServer(lambda _: Answer(JSON[:-20], at_limit=True)) as server:
        [made] = await make_extractor(model_of(server), "json").extract([PASSAGE])
    assert made.triples == FACTS[:1] and made.dropped


async def test_without_a_schema_a_rejection_stays_one() -> None:
    with OpenAIServer(lambda _: Answer(status=400, error="wrong schema")) as server:
        with pytest.raises(ModelResponseError):
            await model_of(server).generate([[{"role": "user", "content": "x"}]], max_new_tokens=5)
    assert len(server.requests) == 1


@servers
async def test_a_served_model_that_was_trained_is_asked_as_it_was_trained(
    server_type: type[ScriptedServer],
) -> None:
    with server_type(ignores) as server:
        model = model_of(server)
        extractor = make_extractor(model, "trained")
        [made] = await extractor.extract([PASSAGE])
        told = json.dumps(server.requests[-1]["body"])
    assert made.triples == FACTS
    assert TRAINED_INSTRUCTION in told and "Pier House" not in told
    assert extractor.identity not in (make_extractor(model).identity, model.identity)
