"""Asking with a model for each role: which of them is asked for what."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ras_flow.cli.commands import app
from tests.cli.model import QUESTION, Model

ROLES = ("planner", "extractor", "answerer")


def asked_with(model: Model, docs: Path, *named: str) -> dict[str, set[str]]:
    """Ask, and return the names of the models that each role asked."""
    served = ["--base-url", model.server.url, "--retriever", "bm25", "--top-k", "1"]
    arguments = ["ask", QUESTION, "--docs", str(docs), "--json", *served, *named]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert json.loads(done.stdout)["answer"] == "Narvik"
    return {role: {body["model"] for by, body in model.asked if by == role} for role in ROLES}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")


def test_each_role_asks_the_model_that_is_named_for_it(model: Model, docs: Path) -> None:
    named = [part for role in ROLES for part in (f"--{role}", f"openai:my-{role}")]
    assert asked_with(model, docs, *named) == {role: {f"my-{role}"} for role in ROLES}


def test_a_roles_own_model_goes_before_the_model_of_all(model: Model, docs: Path) -> None:
    found = asked_with(model, docs, "--model", "openai:all", "--extractor", "openai:own")
    assert found == {"planner": {"all"}, "extractor": {"own"}, "answerer": {"all"}}
