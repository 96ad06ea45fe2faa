"""The adapter that the package ships for T²RAG's two tasks."""

from __future__ import annotations

from ras_flow.llms.local.tuned import find_tuned
from ras_flow.t2rag.prompts import decompose, resolve
from ras_flow.t2rag.settings import SHIPPED


def test_it_is_whole_small_and_asked_as_it_was_trained() -> None:
    tuned = find_tuned(str(SHIPPED))
    assert tuned
    tuned.check_files(SHIPPED, tuned.files)
    assert tuned.instructions == {
        "decompose": decompose.TRAINED_INSTRUCTION,
        "resolve": resolve.TRAINED_INSTRUCTION,
    }
    assert sum(file.stat().st_size for file in SHIPPED.iterdir()) <= 6 * 2**20
