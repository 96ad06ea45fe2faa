from __future__ import annotations

from pathlib import Path

import pytest

from tests.graph_llm.tiny import save_base
from tests.training.graph_llm.samples import records, write_set


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_base(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_set(folder / "set", records(), records(2, first=4))
    return folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAS_FLOW_CACHE", str(tmp_path / "cache"))
