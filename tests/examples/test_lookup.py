"""A system that is not in the package is taken by its name wherever RAS is."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START
from langgraph.types import Command as Resume

from examples import lookup
from ras_flow import Context, as_tool
from ras_flow.builder import SystemBuilder
from ras_flow.errors import ConfigurationError
from ras_flow.nodes.answer import answer
from ras_flow.nodes.review import Review
from ras_flow.nodes.routes import add_routes
from ras_flow.nodes.start import start
from ras_flow.parts.chosen import Parts
from ras_flow.state.channels import RunState
from ras_flow.systems import find_system, named_system
from ras_flow.testing import ScriptedModel
from tests.cli.command import Command
from tests.cli.conftest import docs as docs
from tests.cli.conftest import model as model
from tests.cli.conftest import plain_environment as plain_environment
from tests.cli.model import Model
from tests.evaluation.running.small import World, ask, config
from tests.graph.world import QUESTION, world

NONE: Any = {"calls": 0}
THREAD: Any = {"configurable": {"thread_id": "t"}}
ENGINEER = "Who designed the Aurora Bridge?"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAS_FLOW_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("name", ["lookup", "examples.lookup:SYSTEM"])
async def test_it_is_asked_on_the_command_line(
    model: Model, docs: Path, home: None, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    if name == "lookup":
        monkeypatch.setenv("RAS_FLOW_SYSTEMS", "examples.lookup:SYSTEM")
    options = ["--docs", str(docs), "--system", name, "--set", "reword=true", *model.options]
    done = await asyncio.to_thread(Command("ask", ENGINEER, *options).wait)
    assert (done.code, done.err) == (0, "")
    assert "looked_up: one search was made" in done.out
    assert "Reworded" in done.out
    assert [model.count(role) for role in ("planner", "reader", "answerer")] == [0, 1, 1]


@pytest.mark.parametrize(
    ("given", "told"), [("reword=perhaps", "reword must be"), ("rewrite=true", "Known: ")]
)
def test_a_setting_that_it_does_not_take_is_told(home: None, given: str, told: str) -> None:
    done = Command("ask", ENGINEER, "--system", "examples.lookup:SYSTEM", "--set", given).wait()
    assert done.code == 1 and told in done.err and "reword" in done.err


async def test_it_is_evaluated_with_a_model_and_a_setting_of_its_own(tmp_path: Path) -> None:
    kind = {"kind": "examples.lookup:SYSTEM"}
    systems = {"lookup": {**kind, "reword": [False, True]}, "ras": {}}
    price = {"openai:writer": {"input": 1.0}}
    asked = config(tmp_path, systems, models={"rewriter": "openai:writer"}, prices=price)
    small = World()
    parts = replace(small.parts, models={"rewriter": ScriptedModel("Lund")})
    report = await ask(asked, tmp_path, small, parts=parts)
    rows = {one.system: one.rows for one in report.standings}
    calls = {
        name: {row.outcome.usage.get("rewriter", NONE)["calls"] for row in of}
        for name, of in rows.items()
    }
    assert calls == {"lookup-False": {0}, "lookup-True": {1}, "ras": {0}}
    assert {hop.subquery for row in rows["lookup-True"] for hop in row.outcome.hops} == {"Lund"}
    assert "rewriter tokens" in (tmp_path / "out" / "report.md").read_text()


def test_one_chat_model_for_all_roles_does_not_give_it_the_loop_of_ras() -> None:
    names = dict.fromkeys(Context.model_roles, "openai:x")
    assert Parts().loop(Context(**names)) == "one_call"
    assert Parts().loop(lookup.LookupContext(**names)) == "paper"


def test_a_system_that_is_not_installed_is_told(docs: Path, home: None) -> None:
    done = Command("ask", ENGINEER, "--docs", str(docs), "--system", "lookup").wait()
    assert done.code == 1 and "RAS_FLOW_SYSTEMS" in done.err


@pytest.mark.parametrize("place", ["nowhere:SYSTEM", "examples.lookup:build", "examples.lookup:x"])
def test_what_is_not_a_system_is_told(place: str) -> None:
    with pytest.raises(ConfigurationError, match=place):
        named_system(place)
    with pytest.raises(ConfigurationError, match="not installed"):
        find_system(place)  # A stored name imports nothing.


async def test_it_is_a_tool() -> None:
    parts: dict[str, Any] = {name: part for name, part in world().items() if name != "planner"}
    graph = lookup.build(Parts.of(**parts, defaults=lookup.LookupContext())).compile()
    call = {"name": "answer_from_documents", "args": {"question": QUESTION}, "id": "1"}
    message = await as_tool(graph).ainvoke({**call, "type": "tool_call"})
    assert message.content.startswith("Answer: Narvik")
    assert message.artifact["stop_reason"] == "looked_up"
    json.dumps(message.artifact)


async def test_given_documents_take_the_place_of_its_search() -> None:
    parts: dict[str, Any] = {name: part for name, part in world().items() if name != "planner"}
    graph = lookup.build(Parts.of(**parts, defaults=lookup.LookupContext())).compile()
    given = [{"title": "Mira Lund", "text": "Mira Lund was born in Narvik."}]
    result = await graph.ainvoke({"question": QUESTION, "documents": given})
    assert len(result["hops"]) == 1 and result["answer"] == "Narvik"
    assert parts["retriever"].queries == []


@pytest.mark.parametrize("pause", ["pause_before_answer", "pause_before_retrieval"])
async def test_a_pause_that_it_does_not_have_is_refused(pause: str) -> None:
    parts: dict[str, Any] = {name: part for name, part in world().items() if name != "planner"}
    graph = lookup.build(Parts.of(**parts, defaults=lookup.LookupContext())).compile(
        checkpointer=InMemorySaver()
    )
    asked = graph.ainvoke({"question": QUESTION, "settings": {pause: True}}, THREAD)
    with pytest.raises(ConfigurationError, match=pause):
        await asked


async def test_it_can_wait_for_a_person_too() -> None:
    point = Review(
        node="review_answer",
        point="before_answer",
        before="answer",
        allowed=lambda state, settings: ["drop_triple"],
        then=to_answer,
    )
    graph = waiting(point)
    settings = {"settings": {"pause_before_answer": True}}
    waits = await graph.ainvoke({"question": QUESTION, **settings}, THREAD)
    assert waits["__interrupt__"][0].value["point"] == "before_answer"
    result = await graph.ainvoke(Resume(resume={"edits": []}), THREAD)
    assert result["stop_reason"] == "looked_up"


async def test_a_pause_where_nothing_can_be_edited_can_be_approved() -> None:
    point = Review(node="review_answer", point="before_answer", before="answer", then=to_answer)
    graph = waiting(point)
    settings = {"settings": {"pause_before_answer": True}}
    waits = await graph.ainvoke({"question": QUESTION, **settings}, THREAD)
    assert waits["__interrupt__"][0].value["allowed"] == []
    edits = [{"op": "drop_triple", "triple": "x"}]
    asked = await graph.ainvoke(Resume(resume={"edits": edits}), THREAD)
    assert "no edit at all" in asked["__interrupt__"][0].value["problem"]
    result = await graph.ainvoke(Resume(resume={"edits": []}), THREAD)
    assert result["stop_reason"] == "looked_up"


def waiting(point: Review) -> Any:
    """A small graph that answers after a pause."""
    parts: dict[str, Any] = {name: part for name, part in world().items() if name != "planner"}
    builder = SystemBuilder("lookup", RunState, Parts.of(**parts))
    builder.add_work("start", partial(start, points=["before_answer"]))
    builder.add_work("answer", partial(answer, stop=lambda state, settings: "looked_up"))
    builder.add_edge(START, "start")
    builder.add_edge("answer", END)
    add_routes(builder, lookup.SYSTEM, {"start": to_answer}, [point])
    return builder.compile(checkpointer=InMemorySaver())


def to_answer(state: Any, settings: Context) -> Literal["answer"]:
    return "answer"
