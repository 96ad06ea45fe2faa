"""`ras-flow data build`: which model each step asks, how many at once, and which split is whose."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ras_flow.cli.commands import app
from ras_flow.training.data.records import read_records
from ras_flow.training.splits import SPLITS
from tests.cli.command import ras_flow
from tests.servers import Answer, OpenAIServer
from tests.servers.scripted import last_message
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


def known(body: dict[str, Any]) -> Answer:
    """Answer as a base model that knows it all: each question then takes a single call."""
    number = re.search(r"Person(\d+)", last_message(body))
    return Answer(f"River{number[1]}") if number else reply(body)


def test_a_question_is_for_training_or_not_by_its_shares_and_seed(
    server: OpenAIServer, tmp_path: Path
) -> None:
    server.script = known
    questions = write_questions(tmp_path / "hotpot.json", 79)

    def splits(*options: str) -> dict[str, set[str]]:
        build(server, questions, *options)
        return {
            split: {one["question"] for one in read_records(tmp_path / f"out/{split}.jsonl")}
            for split in SPLITS
        }

    shares = ["--dev", "0.2", "--test", "0.4"]
    found = splits(*shares)
    assert sum(map(len, found.values())) == 80
    assert 10 <= len(found["dev"]) <= 22 and 24 <= len(found["test"]) <= 40
    none = splits("--dev", "0", "--test", "0.4")
    assert none["dev"] == set() and none["test"] == found["test"]
    other = splits(*shares, "--seed", "14")
    assert other["dev"] != found["dev"] and 10 <= len(other["dev"]) <= 22
    assert len(server.requests) == 80, "what was asked before is kept"


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
