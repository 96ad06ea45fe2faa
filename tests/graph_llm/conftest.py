from __future__ import annotations

from pathlib import Path

import pytest

from tests.graph_llm.tiny import save_base


@pytest.fixture(scope="session")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of tiny random base models by type."""
    return {
        kind: save_base(tmp_path_factory.mktemp(kind), kind) for kind in ("llama", "qwen2", "qwen3")
    }


@pytest.fixture(scope="session")
def llama(bases: dict[str, Path]) -> Path:
    return bases["llama"]
