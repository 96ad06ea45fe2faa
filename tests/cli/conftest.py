from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.model import Model, write_documents


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
