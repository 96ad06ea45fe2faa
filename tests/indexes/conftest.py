from __future__ import annotations

from pathlib import Path

import pytest

from ras_flow.indexes import CorpusIndex
from tests.indexes.helpers import DOCUMENTS, WordEncoder


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    path = tmp_path / "index"
    await CorpusIndex.build(path, DOCUMENTS, encoder=WordEncoder())
    return path
