"""Text and JSON Lines."""

from __future__ import annotations

import json
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from pathlib import Path

from ras_flow.documents.source import SourceDocument
from ras_flow.errors import DocumentError
from ras_flow.formats.text import has_word


def read_text(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read a plain text file; the title is the file's name, which is not repeated in the text."""
    text = decode(path.read_bytes(), source)
    if not text.strip():
        raise DocumentError(f"{source} has no text: leave it out.")
    title = Path(source).stem
    first, _, rest = text.lstrip().partition("\n")
    below = rest.lstrip() if first.strip() == title and has_word(rest) else ""
    yield SourceDocument(source, title, below or text)


def read_jsonl(path: Path, source: str) -> Iterator[SourceDocument | DocumentError]:
    """Read one document a line: an object with ``text`` and, if it has one, ``title``."""
    with path.open("rb") as file:
        for number, content in enumerate(file, start=1):
            try:
                line = decode(content, "this line")
                if line.strip():
                    yield _json_document(line, f"{source}#{number}")
            except DocumentError as error:
                yield DocumentError(f"{source}, line {number}: {error}")


def _json_document(line: str, source: str) -> SourceDocument:
    # Not by pydantic, which refuses text with half characters; these are replaced.
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"not valid JSON ({error}).") from error
    if not isinstance(record, dict):
        raise DocumentError('write an object such as {"title": "…", "text": "…"}.')
    title, text = record.get("title") or "", record.get("text")
    if not isinstance(title, str) or not isinstance(text, str) or not text.strip():
        raise DocumentError("the field 'text' must be a non-empty string, 'title' a string.")
    return SourceDocument(source, title, text)


def decode(content: bytes, source: str) -> str:
    """Decode UTF-8, with or without a byte order mark."""
    if content.startswith((b"%PDF-", b"PK\3\4")):
        raise DocumentError(f"{source} is a PDF or Office file: give it its own ending, as .pdf.")
    # Without a byte order mark UTF-16 can be valid UTF-8, with every second character a NUL.
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or content.count(0) > len(content) / 4:
        raise DocumentError(f"{source} looks like UTF-16: convert it to UTF-8.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"{source} is not UTF-8 at byte {error.start}: convert it to UTF-8."
        ) from error
