"""Text, Markdown and JSON Lines."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import pytest

from ras_flow.documents import ReadReport, SourceDocument, read_documents
from ras_flow.errors import DocumentError
from tests.documents.samples import LONG, read


def test_plain_text_is_titled_by_its_file_and_does_not_repeat_the_title(tmp_path: Path) -> None:
    path = tmp_path / "Marie Curie.txt"
    path.write_bytes("\ufeffShe studied radioactivity.\n".encode())
    assert read(path) == [SourceDocument(str(path), "Marie Curie", "She studied radioactivity.\n")]
    path.write_text("\n Marie Curie \r\nShe won.\n", newline="")
    assert read(path)[0].text == "She won.\n"
    path.write_text("Marie Curie\n")
    assert read(path)[0].text == "Marie Curie\n"


@pytest.mark.parametrize(
    "text, title",
    [
        ("intro\n\n## The *real* title ##\n\ntext", "The *real* title"),
        ("```\n# a comment\n```\n\n# Title\n", "Title"),
        ("a\n\nUnderlined\n=====\n\ntext", "Underlined"),
        ("#\t Title # of C# \t## \t", "Title # of C#"),
        ("# \t#\n# Title", "note"),
        ("#hashtag is no heading", "note"),
        ("# ![logo](a.png) [Radium](https://x.org/Radium_(element)) [1]", "Radium [1]"),
        ("# [![build](a.svg)](https://x.org) Radium\n", "Radium"),
    ],
)
def test_markdown_is_titled_by_its_first_heading(tmp_path: Path, text: str, title: str) -> None:
    path = tmp_path / "note.md"
    path.write_text(text)
    assert [(d.title, d.text) for d in read(path)] == [(title, text)]


@pytest.mark.parametrize(
    ("text", "below"),
    [
        ("\n# Radium #\nIt glows.\n# Radium", "It glows.\n# Radium"),
        ("# Radium\r\n\r\nIt glows.", "\r\nIt glows."),
        ("Radium\r\n===\r\nIt glows.", "It glows."),
        ("---\ntitle: Radium\n---\n# Radium\nIt glows.", "It glows."),
        ("---\ntitle: Radium\n---\n# Uses\nIt glows.", "# Uses\nIt glows."),
        ("# Radium\n\n---", "# Radium\n\n---"),
        (f"# {LONG}\nIt glows.", f"# {LONG}\nIt glows."),
    ],
)
def test_a_title_at_the_beginning_is_cut_off_the_text(
    tmp_path: Path, text: str, below: str
) -> None:
    path = tmp_path / "note.md"
    path.write_text(text, newline="")
    assert read(path)[0].text == below


@pytest.mark.parametrize(
    "front, title",
    [
        ("---\ntitle: 1984\n# a comment\n---\n", "1984"),
        ('---\r\ntitle: "On: \\"time\\""\r\n...\r\n', 'On: "time"'),
        ("---\ntitle: [no, text]\n--- \n", "Heading"),
        ("---\nJust a break.\n---\n", None),
        ('---\ntitle: "open\n---\n', None),
        ("---\ntitle: never closed\n", None),
        ('---\ntitle: "\\UFFFFFFFF"\n---\n', None),
        (f"---\na: {'[' * 9999}\n---\n", None),
        ("\n---\na: b\n---\n", None),
    ],
)
def test_front_matter_gives_a_title_and_anything_else_is_text(
    tmp_path: Path, front: str, title: str | None
) -> None:
    path = tmp_path / "note.md"
    path.write_text(f"{front}# Heading\n\nText.\n---\nMore.", newline="")
    [document] = read(path)
    assert document.title == (title or "Heading")
    assert document.text.startswith(front) == (title is None)
    assert document.text.endswith("\nText.\n---\nMore.")


def test_embedded_pictures_are_left_out_of_markdown(tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    picture = "data:image/png;base64," + "iVBORw0KGgo+/" * 1000 + "=="
    path.write_text(f"# Title\n\n![A cat]({picture}) Text.\n\n[image1]: <{picture}>")
    assert read(path)[0].text == "\n![A cat]() Text.\n\n[image1]: <>"


def test_a_heading_with_many_spaces_takes_no_time(tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    path.write_text(f"{' ' * 200_000}\n#{' ' * 200_000}a{' #' * 100_000}b")
    start = time.process_time()
    [document] = read(path)
    assert time.process_time() - start < 10, "quadratic time would take minutes"
    assert document.title.startswith("a # #") and document.title.endswith("#b")


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
