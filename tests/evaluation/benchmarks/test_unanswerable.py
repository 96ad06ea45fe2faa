"""Questions that what is searched does not answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ras_flow.errors import ConfigurationError
from ras_flow.evaluation.benchmarks import load_benchmark
from tests.training.data import examples as e


def towns(count: int = 12) -> list[dict[str, Any]]:
    """Questions in pairs: each rests on a page of its own and on one that it shares."""
    return [
        {
            "id": str(number),
            "question": f"Where does number {number} live?",
            "answers": [f"Town {number}"],
            "support": [f"Person {number}", f"Region {number // 2}"],
            "documents": [
                {"title": f"Person {number}", "text": f"Person {number} lives in Town {number}."},
                {"title": f"Region {number // 2}", "text": f"Region {number // 2} has two towns."},
            ],
        }
        for number in range(count)
    ]


def written(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_gold_documents_are_taken_out_of_the_pool_and_nobody_asks_for_them(tmp_path: Path) -> None:
    found = load_benchmark("jsonl", written(tmp_path, towns()), unanswerable=3, limit=4, seed=1)
    assert len(found.unanswerable) == 3
    assert not any(one.answerable for one in found.unanswerable)
    titles = {document["title"] for document in found.pool}
    for one in found.unanswerable:
        assert f"Person {one.id}" not in titles
        assert f"Region {int(one.id) // 2}" not in titles
    assert len(found.questions) == 4
    for one in found.questions:
        assert {each.title for each in one.support} <= titles


def test_own_questions_without_an_answer_are_asked_of_their_own_documents(tmp_path: Path) -> None:
    twin = e.MUSIQUE | {"answerable": False}
    path = written(tmp_path, [e.MUSIQUE, twin])
    found = load_benchmark("musique", path, unanswerable=1, given=True)
    [known], [unknown] = found.questions, found.unanswerable
    assert unknown.question == known.question
    assert unknown.id != known.id
    # A pool holds what their twins rest on.
    with pytest.raises(ConfigurationError, match="given"):
        load_benchmark("musique", written(tmp_path, [twin]), unanswerable=1)


def test_more_than_there_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="fewer"):
        load_benchmark("jsonl", written(tmp_path, towns(2)), unanswerable=5)
