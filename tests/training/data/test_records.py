from __future__ import annotations

import gzip
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.errors import InputError
from ras_flow.training.data.records import Record, check_record, read_records
from ras_flow.training.data.writer import RecordWriter

PLAN: Record = {
    "id": "a/1/0/plan-1",
    "source": "a",
    "split": "train",
    "task": "plan",
    "question": "Who?",
    "chain": [{"subquery": "Who?", "triples": [["s", "p", "o"]]}],
    "target": {"label": "SUBQ", "subquery": "Where?"},
}

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
links = st.fixed_dictionaries(
    {
        "subquery": texts,
        "triples": st.lists(st.lists(texts, min_size=3, max_size=3), max_size=3),
    }
)
records = st.fixed_dictionaries(
    {
        "id": texts,
        "source": texts,
        "split": st.sampled_from(["train", "dev", "test"]),
        "task": st.just("answer"),
        "question": texts,
        "chain": st.lists(links, max_size=3),
        "target": st.fixed_dictionaries({"answer": texts}),
    },
    optional={"instruction": texts},
)


def named(record: Record, name: str) -> Record:
    return {**record, "id": name}


@given(st.lists(records, unique_by=lambda record: record["id"]))
def test_what_is_written_is_read_back(tmp_path_factory: Any, written: list[Record]) -> None:
    path = tmp_path_factory.mktemp("records") / "train.jsonl"
    with RecordWriter(path) as writer:
        for record in written:
            writer.write(record)
    assert list(read_records(path)) == written


BROKEN: list[tuple[str, Any, str]] = [
    ("id", None, "id: must be a text that is not empty, is missing"),
    ("question", "  ", "question: must be a text"),
    ("split", "validation", "split: must be one of train, dev, test"),
    ("task", "write", 'task: must be "plan" or "answer"'),
    ("chain", {}, "chain: must be a list"),
    ("chain", [{"subquery": "Q"}], "chain[0].triples: must be a list"),
    (
        "chain",
        [{"subquery": "Q", "triples": [["s", "p"]]}],
        "chain[0].triples[0]: must be three texts",
    ),
    (
        "chain",
        [{"subquery": "Q", "triples": [], "passages": [["Title", " "]]}],
        "chain[0].passages[0]: must be a title and a text",
    ),
    ("chain", [{"subquery": "Q", "triples": [], "hop": 0}], "chain[0].hop: has no place here"),
    ("chain", [], "SUFFICIENT"),
    ("target", {"label": "MAYBE"}, "target.label: must be one of SUBQ"),
    ("target", {"label": "SUBQ"}, "target.subquery: must be a text"),
    ("target", {"label": "SUBQ", "subquery": "x" * 401}, "target.subquery: must have a word in"),
    ("target", {"label": "NO_RETRIEVAL"}, "target.label: NO_RETRIEVAL is a first plan"),
    ("target", {"label": "SUFFICIENT", "subquery": "x"}, "target.subquery: has no place here"),
    ("target", {"answer": "x"}, "target.label: must be one of"),
    ("prompt", "Question: ...", "prompt: a record has no such field"),
    ("source", "pl\ud800", "source: has half a character (\\ud800) in it"),
    (
        "target",
        {"label": "SUBQ", "subquery": "Who\udfff?"},
        "target.subquery: has half a character",
    ),
    (
        "chain",
        [{"subquery": "Q", "triples": [["s\ud83d", "p", "o"]]}],
        "chain[0].triples[0]: has half a character",
    ),
    (
        "chain",
        [{"subquery": "Q", "triples": [], "passages": [["T", "text \ud83d"]]}],
        "chain[0].passages[0]: has half a character",
    ),
]


@pytest.mark.parametrize(("field", "value", "problem"), BROKEN)
def test_a_broken_record_is_told_by_file_line_and_field(
    tmp_path: Path, field: str, value: Any, problem: str
) -> None:
    broken: dict[str, Any] = deepcopy(dict(PLAN))
    broken[field] = value
    if problem == "SUFFICIENT":
        broken["target"] = {"label": "SUFFICIENT"}
        problem = "target.label: before the first hop"
    path = tmp_path / "train.jsonl"
    path.write_text(f"{json.dumps(PLAN)}\n\n{json.dumps(broken)}\n")
    with pytest.raises(InputError) as error:
        list(read_records(path))
    assert str(error.value).startswith(f"{path}:3:{problem}")


def test_a_torn_line_and_a_missing_file_are_told(tmp_path: Path) -> None:
    path = tmp_path / "dev.jsonl"
    path.write_text(json.dumps(PLAN) + '\n{"id": "b", "so')
    with pytest.raises(InputError, match=r"dev\.jsonl:2: this line is no JSON"):
        list(read_records(path))
    path.write_bytes(b'{"id": "\xff"}\n')
    with pytest.raises(InputError, match=r"dev\.jsonl:1: the byte 0xff in this line is no UTF-8"):
        list(read_records(path))
    with pytest.raises(InputError, match="cannot be read"):
        list(read_records(tmp_path / "none.jsonl"))


def test_gzipped_records_are_read(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(PLAN).encode()))
    assert list(read_records(path)) == [PLAN]


def test_a_file_is_complete_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    path.write_text("what was there before")
    with pytest.raises(KeyError), RecordWriter(path) as writer:
        writer.write(PLAN)
        raise KeyError
    assert path.read_text() == "what was there before"
    # What a kill left is of no use.
    (tmp_path / "train.jsonl.part").write_text(json.dumps(named(PLAN, "one")) + '\n{"id": "two"')
    with RecordWriter(path) as writer:
        writer.write(PLAN)
        assert path.read_text() == "what was there before"
    assert list(read_records(path)) == [PLAN]
    assert [p.name for p in tmp_path.iterdir()] == ["train.jsonl"]


def test_no_two_records_have_one_id(tmp_path: Path) -> None:
    with RecordWriter(tmp_path / "a.jsonl") as writer:
        writer.write(PLAN)
        with pytest.raises(InputError, match="a/1/0/plan-1: two records have this id"):
            writer.write({**PLAN, "question": "Who else?"})


def test_a_writer_refuses_what_a_reader_would_refuse(tmp_path: Path) -> None:
    with RecordWriter(tmp_path / "a.jsonl") as writer, pytest.raises(InputError, match="target"):
        writer.write({**PLAN, "target": {}})
    assert check_record(PLAN, "x") == PLAN
