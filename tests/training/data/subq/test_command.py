"""`ras-flow data build`: which model each step asks, how many at once, and which split is whose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ras_flow.cli.commands import app
from tests.cli.command import ras_flow
from tests.servers import OpenAIServer
from tests.training.data.subq.samples import reply, write_questions

STEPS = {
    "--filter-model": "You are given a question and numbered",
    "--subquery-model": "You are given a question that takes several",
    "--extractor": "Turn the text",
    "--base-model": "",
}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(reply) as server:
        yield server


def build(server: OpenAIServer, questions: Path, *options: str, out: str = "out") -> Any:
    """Build a data set beside its questions, one document a hop; return what is printed as JSON."""
    folder = questions.parent / out
    arguments = ["data", "build", str(questions), "--out", str(folder), "--distractors", "0"]
    served = ["--model", "openai:all", "--base-url", server.url]
    run = CliRunner().invoke
    done = run(app, [*arguments, *served, "--json", *options], catch_exceptions=False)
    return json.loads(done.stdout)


def test_each_step_asks_the_model_that_is_named_for_it(
    server: OpenAIServer, tmp_path: Path
) -> None:
    named = [part for step in STEPS for part in (step, f"openai:its{step}")]
    build(server, write_questions(tmp_path / "hotpot.json", 1), *named)
    asked: dict[str, set[str]] = {}
    for request in server.requests:
        body = request["body"]
        system = body["messages"][0]["content"]
        step = next(step for step, start in STEPS.items() if system.startswith(start))
        asked.setdefault(step, set()).add(body["model"])
    assert asked == {step: {f"its{step}"} for step in STEPS}


def test_the_command_builds_hotpotqa_subq(server: OpenAIServer, tmp_path: Path) -> None:
    path = write_questions(tmp_path / "hotpot.json", 5)
    done = ras_flow(
        *("data", "build", str(path), "--out", str(tmp_path / "out")),
        *("--model", "openai:test", "--base-url", server.url, "--limit", "4"),
        *("--base-model", "", "--distractors", "2"),
    )
    assert (done.code, done.err) == (0, "")
    assert "| [NO_RETRIEVAL] | 0 | – |" in done.out
    assert 'left out: {"filter: no usable reply": 1}' in done.out
