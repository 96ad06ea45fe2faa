"""Text and JSON Lines."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from ras_flow.documents import ReadReport, SourceDocument, read_documents
from ras_flow.errors import DocumentError
from tests.documents.samples import read


def test_plain_text_is_titled_by_its_file_and_does_not_repeat_the_title(tmp_path: Path) -> None:
    path = tmp_path / "Marie Curie.txt"
    path.write_bytes("\ufeffShe studied radioactivity.\n".encode())
    assert read(path) == [SourceDocument(str(path), "Marie Curie", "She studied radioactivity.\n")]
    path.write_text("\n Marie Curie \r\nShe won.\n", newline="")
    assert read(path)[0].text == "She won.\n"
    path.write_text("Marie Curie\n")
    assert read(path)[0].text == "Marie Curie\n"


def test_jsonl_has_a_document_a_line(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"title": "A", "text": "One\\u2028line."}\n\n{"text": "No title", "x": 1}\r\n')
    assert read(path) == [
        SourceDocument(f"{path}#1", "A", "One\u2028line."),
        SourceDocument(f"{path}#3", "", "No title"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[" * 100_000,
        b"[1]",
        b'{"title": "a"}',
        b'{"text": 3}',
        b'{"text": "a", "title": ["b"]}',
        b'{"text": " "}',
        b'{"text": "caf\xe9"}',
    ],
)
def test_a_bad_line_is_named_and_can_be_skipped(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "good"}\n' + line + b'\n{"text": "also good"}')
    with pytest.raises(DocumentError, match="corpus.jsonl, line 2: "):
        read(path)
    report = ReadReport()
    found = read_documents([path], on_error="skip", report=report)
    assert [document.text for document in found] == ["good", "also good"]
    assert report.documents == 2 and "line 2" in str(report.errors[0])


def test_lines_are_read_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(f'{{"text": "{"word " * 200}"}}\n' * 2_000)
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_documents([path])) == 2_000
        assert tracemalloc.get_traced_memory()[1] < path.stat().st_size / 4
    finally:
        tracemalloc.stop()
