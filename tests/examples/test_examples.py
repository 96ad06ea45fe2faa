"""The example programs from their first line to their last, over scripted parts."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from examples import agent_tool, parent_app, replay_and_fork
from ras_flow import build_graph
from tests.graph.test_composition import calls
from tests.graph.world import QUESTION, SECOND, build, world

Printed = pytest.CaptureFixture[str]


def with_parts(**parts: Any) -> Any:
    return partial(build_graph, **parts)


async def test_parent_app(monkeypatch: pytest.MonkeyPatch, capsys: Printed) -> None:
    parts = world(["[SUBQ] x", "[SUBQ] x", SECOND, SECOND])
    monkeypatch.setattr(parent_app, "build_graph", with_parts(**parts))
    await parent_app.main()
    heading, *findings = capsys.readouterr().out.splitlines()
    assert heading == "What we found"
    assert [line[:5] for line in findings] == ["- Who", "- In "]
    assert all(len(request.chain) < 2 for request in parts["planner"].requests), "max_hops is 2"


async def test_agent_tool(monkeypatch: pytest.MonkeyPatch, capsys: Printed) -> None:
    monkeypatch.setattr("ras_flow.graph.graph", build(world()))
    monkeypatch.setattr(agent_tool, "init_chat_model", lambda _: calls(QUESTION))
    await agent_tool.main("some:model")
    assert capsys.readouterr().out == "In Narvik.\n"


async def test_replay_and_fork(monkeypatch: pytest.MonkeyPatch, capsys: Printed) -> None:
    monkeypatch.setattr(replay_and_fork, "build_graph", with_parts(**world()))
    await replay_and_fork.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "answer: Narvik"
    assert lines[1].endswith("next: __start__") and lines[-3].endswith("next: nothing")
    assert lines[-2] == "replayed: Narvik"
    assert lines[-1].startswith("without ") and lines[-1].endswith("unknown")
