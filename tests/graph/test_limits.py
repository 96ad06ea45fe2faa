"""Questions and documents that are too large are refused by name, before any model is asked."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.settings.context import Context
from ras_flow.settings.limits import (
    INDEXES,
    MAX_CHARACTERS,
    MAX_DOCUMENTS,
    MAX_QUESTION,
    MODEL_SERVERS,
    MODELS,
)
from tests.graph.world import DOCUMENTS, QUESTION, build, world


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ((MAX_QUESTION, 60), (MAX_DOCUMENTS, 3), (MAX_CHARACTERS, 130)):
        monkeypatch.setenv(name, str(value))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"question": "Why? " * 13}, ["64 characters", "at most 60", MAX_QUESTION]),
        (
            {"question": QUESTION, "documents": DOCUMENTS},
            ["4 documents", "at most 3", MAX_DOCUMENTS],
        ),
        (
            {"question": QUESTION, "documents": DOCUMENTS[1:]},
            ["characters together", "at most 130", MAX_CHARACTERS],
        ),
    ],
)
async def test_what_is_too_large_is_refused(given: Any, words: list[str]) -> None:
    parts = world()
    with pytest.raises(InputError) as refused:
        await build(parts).ainvoke(given)
    for word in words:
        assert word in str(refused.value)
    assert not parts["planner"].requests


async def test_what_is_just_as_large_as_the_limits_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document = {"title": "Narvik", "text": "A town.", "source": "n.txt"}
    given = {"question": QUESTION, "documents": [document]}
    for name, most in ((MAX_QUESTION, len(QUESTION)), (MAX_DOCUMENTS, 1), (MAX_CHARACTERS, 18)):
        monkeypatch.setenv(name, str(most))
    assert (await build(world()).ainvoke(given))["answer"]


async def test_a_limit_that_is_no_number_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("many", "0", "-1", "1e3", "²"):
        monkeypatch.setenv(MAX_QUESTION, value)
        with pytest.raises(ConfigurationError, match=MAX_QUESTION):
            await build(world()).ainvoke({"question": QUESTION})


async def test_the_defaults_hold_without_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (MAX_QUESTION, MAX_DOCUMENTS, MAX_CHARACTERS):
        monkeypatch.delenv(name)
    graph = build(world())
    with pytest.raises(InputError, match="20001 characters; at most 20000 "):
        await graph.ainvoke({"question": "?" * 20_001})
    documents = DOCUMENTS * 20
    result = await graph.ainvoke({"question": QUESTION, "documents": documents})
    assert result["answer"] == "Narvik"


STRANGER = {"configurable": {"graph_id": "ras", "assistant_id": "a"}}
"""What a LangGraph server puts into the config of its runs."""
ON_AEGRA = {"configurable": {"langgraph_auth_user": {"identity": "ada"}}}
"""What aegra 0.6 does."""


@pytest.mark.parametrize(
    ("allowed", "address", "config", "taken"),
    [
        (None, "http://model.example/v1", {}, True),
        (None, "http://model.example/v1", STRANGER, False),
        (None, "http://model.example/v1", ON_AEGRA, False),
        ("", "http://model.example/v1", {}, False),
        ("http://a.example, https://model.example", "https://model.example:9/v1", STRANGER, True),
        ("https://model.example", "http://model.example/v1", STRANGER, False),
        ("https://model.example", "https://model.example.evil/v1", STRANGER, False),
        ("https://model.example", "https://model.example@evil/v1", STRANGER, False),
        ("https://model.example:8000", "https://model.example:9/v1", STRANGER, False),
        ("https://model.example", "https://[", STRANGER, False),
    ],
)
async def test_keys_go_to_no_server_that_a_stranger_names(
    monkeypatch: pytest.MonkeyPatch, allowed: str | None, address: str, config: Any, taken: bool
) -> None:
    if allowed is None:
        monkeypatch.delenv(MODEL_SERVERS, raising=False)
    else:
        monkeypatch.setenv(MODEL_SERVERS, allowed)
    parts = world()
    asked = build(parts).ainvoke({"question": QUESTION}, config, context=Context(base_url=address))
    if taken:
        assert (await asked)["answer"]
        return
    with pytest.raises(ConfigurationError, match=MODEL_SERVERS) as refused:
        await asked
    assert "example" not in str(refused.value)
    assert not parts["planner"].requests


@pytest.mark.parametrize(
    "servers", ["model.example", "model.example:8000", "https://[", "https://b.example:x", "//c"]
)
async def test_allowed_servers_that_are_no_addresses_are_told(
    monkeypatch: pytest.MonkeyPatch, servers: str
) -> None:
    monkeypatch.setenv(MODEL_SERVERS, f"https://a.example, {servers}")
    context = Context(base_url="https://model.example/v1")
    with pytest.raises(ConfigurationError, match=f"{MODEL_SERVERS}") as refused:
        await build(world()).ainvoke({"question": QUESTION}, context=context)
    assert "example" not in str(refused.value)


async def test_settings_edited_into_a_run_name_no_server_that_is_not_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(MODEL_SERVERS, "https://gateway.example")
    parts, thread = world(), {"configurable": {"thread_id": "t"}}
    graph = build(parts, checkpointer=InMemorySaver())
    await graph.ainvoke({"question": QUESTION}, thread)
    asked = len(parts["planner"].requests)
    elsewhere = {"context": {"base_url": "http://model.example/v1"}}
    edited = await graph.aupdate_state(thread, elsewhere, as_node="retrieve")
    with pytest.raises(InputError, match="base_url"):
        await graph.ainvoke(None, edited)
    assert len(parts["planner"].requests) == asked


@pytest.mark.parametrize(
    ("variable", "setting", "allowed", "name", "taken"),
    [
        (MODELS, "planner", "openai:a, local:b", "local:b", True),
        (MODELS, "answerer", "openai:a", "openai:ab", False),
        (MODELS, "encoder", "", "somebody/else", False),
        (MODELS, "extractor", "", "none", True),
        (MODELS, "planner", "", "local:default", True),
        (MODELS, "index", "", "/any", True),
        (INDEXES, "index", "/srv/a,/srv/b", "/srv/b", True),
        (INDEXES, "index", "/srv", "/srv/b", False),
        (INDEXES, "index", "", "demo", False),
        (INDEXES, "planner", "", "openai:a", True),
    ],
)
async def test_a_deployment_lists_what_callers_may_name(
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    setting: str,
    allowed: str,
    name: str,
    taken: bool,
) -> None:
    monkeypatch.setenv(variable, allowed)
    parts, settings = world(), {setting: name}
    replaced = not taken and setting in Context.model_roles
    graph = build(parts | {setting: None} if replaced else parts)
    for asked in (
        graph.ainvoke({"question": QUESTION}, context=Context.from_mapping(settings)),
        graph.ainvoke({"question": QUESTION, "settings": settings}),
    ):
        if taken:
            assert (await asked)["answer"]
            continue
        with pytest.raises(ConfigurationError, match=f"as {setting}.* {variable}") as refused:
            await asked
        assert not parts["planner"].requests and "srv" not in str(refused.value)


async def test_a_model_that_a_person_chooses_is_one_of_those_that_are_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(MODELS, "openai:listed")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    own = {name: part for name, part in world().items() if name != "extractor"}
    thread: Any = {"configurable": {"thread_id": "t"}}
    context = Context(extractor="none", max_hops=1, pause_before_retrieval=True)
    graph = build(own, checkpointer=InMemorySaver())
    await graph.ainvoke({"question": QUESTION}, thread, context=context)

    async def choose(name: str) -> Any:
        edit = {"op": "model", "role": "extractor", "name": name}
        result = await graph.ainvoke(Command(resume={"edits": [edit]}), thread, context=context)
        [asked] = result.get("__interrupt__", [None])
        return asked and asked.value["problem"]

    assert MODELS in await choose("openai:other")
    with pytest.raises(InputError, match=MODELS):
        await graph.aupdate_state(thread, {"context": {"extractor": "openai:other"}})
    assert await choose("none") is None
