from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import ras_flow
from tests.cli.model import QUESTION, Model, write_documents


@pytest.fixture(autouse=True)
def plain_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test a cache of its own, no key, and the output of a plain pipe."""
    monkeypatch.setenv("RAS_FLOW_CACHE", str(tmp_path / "cache"))
    for name in os.environ:
        if name.startswith(("OPENAI_", "ANTHROPIC_", "FORCE_COLOR", "COLUMNS", "PYTHONIOENCODING")):
            monkeypatch.delenv(name)


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as model:
        yield model


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "docs")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str, Model]]:
    """The home folder of a finished run, its id, and its model; tests work on copies."""
    folder = tmp_path_factory.mktemp("asked")
    with Model() as model:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("RAS_FLOW_HOME", str(folder / "home"))
            patch.setenv("RAS_FLOW_CACHE", str(folder / "cache"))
            docs = write_documents(folder / "docs")
            arguments = ["ask", QUESTION, "--docs", str(docs), "--top-k", "1", "--json"]
            done = ras_flow(*arguments, *model.options)
        assert done.code == 0, done.err
        yield folder / "home", json.loads(done.out)["run"], model


@pytest.fixture
def run(asked: tuple[Path, str, Model], own_home: Path) -> str:
    home, run, _ = asked
    own_home.mkdir()
    for file in home.glob("*.sqlite*"):
        (own_home / file.name).write_bytes(file.read_bytes())
    return run


@pytest.fixture
def world_model(asked: tuple[Path, str, Model]) -> Iterator[Model]:
    """The model that the run's settings name."""
    model = asked[2]
    model.asked.clear()
    yield model
    model.answers = lambda role, text: None
