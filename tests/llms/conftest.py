from __future__ import annotations

import pytest

from tests.llms.remote_models import KEY
from tests.servers.quick import quick_retries


@pytest.fixture
def providers(monkeypatch: pytest.MonkeyPatch) -> None:
    quick_retries(monkeypatch)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
