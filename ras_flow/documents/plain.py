"""Text, Markdown and JSON Lines: files in UTF-8 that need no library to be read."""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from pathlib import Path

from ras_flow.documents.shared import make_document
from ras_flow.documents.source import SourceDocument
from ras_flow.errors import DocumentError

_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*)")
_TOP_HEADING = re.compile(r"\s*+(?:#{1,6}[ \t].*|.+\n=+[ \t]*)(?:\r?\n|\Z)")
_LINK = re.compile(r"(!?)\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)")
_PICTURE = re.compile(r"data:[\w.+;=/-]+;base64,[A-Za-z0-9+/=_-]*")
"""A file as letters: its hundreds of passages would be embedded, found and extracted."""
_FENCE = re.compile(r" {0,3}(```|~~~)")
_FRONT_MATTER = re.compile(
    r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)


def read_text(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read a plain text file; the title is the file's name."""
    yield make_document(source, "", _decode(path.read_bytes(), source))


def read_markdown(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read a Markdown file without embedded pictures and YAML front matter.

    The title is the front matter's, or else the first heading.
    """
    title, text = _split_front_matter(_PICTURE.sub("", _decode(path.read_bytes(), source)))
    title = title or _first_heading(text)
    top = _TOP_HEADING.match(text)
    below = text[top.end() :] if top and title and _first_heading(top[0]) == title else ""
    yield make_document(source, title, text, below)


def read_jsonl(path: Path, source: str) -> Iterator[SourceDocument | DocumentError]:
    """Read one document a line: an object with ``text`` and, if it has one, ``title``."""
    with path.open("rb") as file:
        for number, content in enumerate(file, start=1):
            try:
                line = _decode(content, "this line")
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


def _decode(content: bytes, source: str) -> str:
    # Without a byte order mark UTF-16 can be valid UTF-8, with every second character a NUL.
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or content.count(0) > len(content) / 4:
        raise DocumentError(f"{source} looks like UTF-16: convert it to UTF-8.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"{source} is not UTF-8 at byte {error.start}: convert it to UTF-8."
        ) from error


def _split_front_matter(text: str) -> tuple[str, str]:
    """Return the title in a text's front matter and the text after it; what is not YAML stays."""
    block = _FRONT_MATTER.match(text)
    if not block:
        return "", text
    import yaml  # noqa: PLC0415

    try:
        fields = yaml.load(block[1], Loader=yaml.BaseLoader)  # All scalars are strings.
    # ValueError and OverflowError are of escapes that stand for no character.
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return "", text
    if not isinstance(fields, dict):
        return "", text
    title = fields.get("title")
    return title if isinstance(title, str) else "", text[block.end() :]


def _first_heading(text: str) -> str:
    """Return the first heading, written with # or underlined, outside of code."""
    code, before = "", ""
    for line in text.splitlines():
        if fence := _FENCE.match(line):
            code = "" if code == fence[1] else code or fence[1]
        elif not code:
            if heading := _HEADING.fullmatch(line):
                return _as_shown(heading[1].rstrip(" \t").rstrip("#").rstrip(" \t"))
            if before.strip() and re.fullmatch(r"=+[ \t]*", line):
                return _as_shown(before)
        before = line
    return ""


def _as_shown(heading: str) -> str:
    """Return a heading with the text of its links, and without pictures."""
    for _ in range(2):  # A picture may be a link's text.
        heading = _LINK.sub(lambda link: "" if link[1] else link[2], heading)
    return heading
