"""A system that is not in the package is taken by its name wherever RAS is."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from examples import lookup
from ras_flow import as_tool
from ras_flow.errors import ConfigurationError
from ras_flow.parts.chosen import Parts
from ras_flow.systems import find_system, named_system
from tests.cli.command import Command
from tests.cli.conftest import docs as docs
from tests.cli.conftest import model as model
from tests.cli.conftest import plain_environment as plain_environment
from tests.cli.model import Model
from tests.graph.world import QUESTION, world

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
    options = ["--docs", str(docs), "--system", name, *model.options]
    done = await asyncio.to_thread(Command("ask", ENGINEER, *options).wait)
    assert (done.code, done.err) == (0, "")
    assert "looked_up: one search was made" in done.out
    assert model.count("planner") == 0
    assert model.count("answerer") == 1


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
    graph = lookup.build(Parts.of(**parts)).compile()
    call = {"name": "answer_from_documents", "args": {"question": QUESTION}, "id": "1"}
    message = await as_tool(graph).ainvoke({**call, "type": "tool_call"})
    assert message.content.startswith("Answer: Narvik")
    assert message.artifact["stop_reason"] == "looked_up"
    json.dumps(message.artifact)
