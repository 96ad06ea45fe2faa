"""Published files are read, plain or gzipped, or refused by file and line."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest

from ras_flow.datasets.reading import read_rows
from ras_flow.errors import InputError


def texts(path: Path) -> list[str]:
    return [row.text("question") for row in read_rows(path)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "question\nWho?"),
        ("a.json", '[{"question": "Who?"}]'),
        ("a.jsonl", '{"question": "Who?"}'),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_read_packed_or_not_without_its_byte_order_mark(
    tmp_path: Path, name: str, text: str, packed: bool
) -> None:
    path = tmp_path / (f"{name}.gz" if packed else name)
    content = f"\ufeff{text}".encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    assert texts(path) == ["Who?"]


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("a.jsonl", b'{"question": "1"}\n\n{"question": "\xff"}\n', ":3"),
        ("a.json", b'[{"question": "1"},\n{"question": "\xff"}]', ":2"),
        ("a.csv", b"question\n1\n\xff\n", ":3"),
        ("a.jsonl", b'{"question": "1"}\n{"question": ', ":2"),
        ("a.json", b'[{"a": 1},\n{"b" 2}]', ":2"),
        ("a.jsonl", b"[1]\n[2]\n", ":1"),
    ],
)
def test_what_cannot_be_read_is_told_by_file_and_line(
    tmp_path: Path, name: str, content: bytes, place: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        texts(path)
    assert str(error.value).startswith(f"{path}{place}:")
    with pytest.raises(InputError, match="nowhere"):
        texts(tmp_path / "nowhere.jsonl")


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.json.gz", "a.csv.gz"])
def test_a_gzipped_file_that_is_cut_off_is_told_by_the_line(tmp_path: Path, name: str) -> None:
    rows = [json.dumps({"question": f"{random.Random(n).random()}"}) for n in range(5000)]
    lines = {"a.jsonl.gz": rows, "a.json.gz": [f"[{rows[0]}", *(f",{r}" for r in rows[1:]), "]"]}
    content = "\n".join(lines.get(name, ["question", *map(str, range(9000))]))
    path = tmp_path / name
    whole = gzip.compress(content.encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=rf"{name}:\d+ cannot be read: .*end-of-stream") as error:
        list(read_rows(path))
    at = int(str(error.value).removeprefix(f"{path}:").partition(" ")[0])
    assert 1000 < at < 6000


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("value", [[{"question": "Who?"}], {"question": "Who?"}])
def test_a_file_that_is_one_json_value_is_no_json_lines(
    tmp_path: Path, value: object, indent: int | None
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(value, indent=indent))
    if isinstance(value, dict) and indent is None:
        assert texts(path) == ["Who?"]
    else:
        with pytest.raises(InputError, match="one JSON"):
            texts(path)
