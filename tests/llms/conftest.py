from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ras_flow.llms import LocalLanguageModel
from ras_flow.llms.local import model as local
from ras_flow.llms.local import tokenizer
from tests.llms.remote_models import KEY
from tests.llms.tiny import save_tiny_model
from tests.servers.quick import quick_retries


@pytest.fixture
def providers(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_retries(monkeypatch)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def model(folder: Path) -> Iterator[LocalLanguageModel]:
    local._models.clear()
    tokenizer._tokenizers.clear()
    yield LocalLanguageModel(str(folder))
    local._models.clear()
