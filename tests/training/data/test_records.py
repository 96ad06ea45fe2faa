from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ras_flow.errors import InputError
from ras_flow.training.data.records import Record, check_record
from ras_flow.training.graph_llm.data import read_split

PLAN: Record = {
    "id": "a/1/0/plan-1",
    "source": "a",
    "split": "train",
    "task": "plan",
    "question": "Who?",
    "chain": [{"subquery": "Who?", "triples": [["s", "p", "o"]]}],
    "target": {"label": "SUBQ", "subquery": "Where?"},
}


def hop(**changes: Any) -> list[dict[str, Any]]:
    return [{"subquery": "Q", "triples": [], **changes}]


@pytest.mark.parametrize(
    ("field", "value", "place"),
    [
        ("question", "  ", "question"),
        ("split", "validation", "split"),
        ("chain", [{"subquery": "Q"}], "chain.0.triples"),
        ("chain", hop(triples=[["s", "p"]]), "chain.0.triples.0"),
        ("chain", hop(passages=[["Title", " "]]), "chain.0.passages.0"),
        ("chain", hop(hop=0), "'hop'"),
        ("target", {"label": "MAYBE"}, "target.label"),
        ("target", {"label": "SUBQ"}, "target: .*subquery"),
        ("target", {"label": "SUBQ", "subquery": "x" * 401}, "target: subquery"),
        ("target", {"label": "NO_RETRIEVAL"}, "target: NO_RETRIEVAL"),
        ("target", {"label": "SUFFICIENT", "subquery": "x"}, "target: .*nothing else"),
        ("target", {"answer": "x"}, "target: .*label"),
        ("prompt", "Question: ...", "'prompt'"),
        ("target", {"label": "SUBQ", "subquery": "Who\udfff?"}, "target.subquery"),
        ("chain", hop(passages=[["T", "text \ud83d"]]), "chain.0.passages.0.1"),
    ],
)
def test_a_broken_record_is_told_by_file_line_and_field(
    tmp_path: Path, field: str, value: Any, place: str
) -> None:
    (tmp_path / "stats.json").touch()
    (tmp_path / "train.jsonl").write_text(
        f"{json.dumps(PLAN)}\n\n{json.dumps({**PLAN, field: value})}\n"
    )
    with pytest.raises(InputError, match=rf"train\.jsonl:3: (unknown name )?{place}"):
        read_split([tmp_path], "train")


def test_a_first_plan_is_never_that_the_graph_suffices() -> None:
    first: Any = {**PLAN, "chain": [], "target": {"label": "SUFFICIENT"}}
    with pytest.raises(InputError, match="SUFFICIENT"):
        check_record(first, "x")
