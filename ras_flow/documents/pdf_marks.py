"""What a PDF file has beside its text layer: an outline, forms that were filled in, notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ras_flow.documents.shared import DAMAGE
from ras_flow.support.extras import require

_NOTES = frozenset(
    f"/{name}"
    for name in "Text FreeText Highlight Underline Squiggly StrikeOut Caret Square Circle Line "
    "Polygon PolyLine Stamp Ink".split()
)
_UNSEEN = 2 | 32
"""Flags of annotations that no reader shows."""
_PASSWORD, _RADIO = 1 << 13, 1 << 15
_DEEPEST = 20
_NUMBER = re.compile(r"(?:\d+\.?)+\s+")


def outline_key(title: str) -> str:
    """Return what an outline's entry and a line of its page have in common."""
    return _NUMBER.sub("", " ".join(title.split())).casefold()


def heading_at(lines: Sequence[str], at: int, known: Mapping[str, int]) -> tuple[int, int]:
    """Return how many lines from one on are a heading of the outline, and its level."""
    for length in (1, 2, 3) if known else ():
        text = outline_key(" ".join(lines[at : at + length]))
        if text in known:
            rest = " ".join(lines[at + 1 : at + length])
            # A page's number may stand above a heading, which has one of its own then.
            after = _NUMBER.match(rest) and outline_key(rest) in known
            return (0, 0) if after else (length, known[text])
    return 0, 0


def headings(reader: Any) -> dict[int, dict[str, int]]:
    """Return, by page from 0 on, the entries of a file's outline with their levels."""
    pypdf = require("pypdf", extra="documents")
    found: dict[int, dict[str, int]] = {}
    try:
        for title, page, level in _entries(reader, reader.outline, 1):
            found.setdefault(page, {})[outline_key(title)] = level
    except (pypdf.errors.PyPdfError, *DAMAGE):  # The pages can be read without it.
        return {}
    return found


def _entries(reader: Any, entries: Any, level: int) -> Iterator[tuple[str, int, int]]:
    for entry in entries:
        if isinstance(entry, list):
            yield from _entries(reader, entry, level + 1)
        elif (page := reader.get_destination_page_number(entry)) is not None and entry.title:
            yield str(entry.title), page, level


def form_values(page: Any) -> Iterator[str]:
    """Yield the fields of a page that were filled in, such as "Name: Ada Brun"."""
    known = set[str]()
    for annotation in _annotations(page, {"/Widget"}):
        name = label = kind = ""
        value: Any = None
        flags, field = 0, annotation
        for _ in range(_DEEPEST):  # What a field does not say, those above it do.
            name = f"{field['/T']}.{name}".rstrip(".") if "/T" in field else name
            label = label or str(field.get("/TU", ""))
            kind = kind or str(field.get("/FT", ""))
            value = field.get("/V") if value is None else value
            flags = flags or int(field.get("/Ff", 0))
            if "/Parent" not in field:
                break
            field = field["/Parent"].get_object()
        text = _value(value, kind)
        if kind == "/Tx" and flags & _PASSWORD or text == "no" and flags & _RADIO:
            continue
        if text and name not in known:
            known.add(name)
            yield f"{label or name}: {text}"


def _value(value: Any, kind: str) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, (_value(one, kind) for one in value)))
    text = "" if value is None else " ".join(str(value.get_object()).split())
    if kind != "/Btn":
        return text
    text = text.removeprefix("/")
    return {"Off": "no", "On": "yes", "Yes": "yes", "1": "yes"}.get(text, text)


def notes(page: Any) -> Iterator[str]:
    """Yield what readers have written onto a page."""
    for annotation in _annotations(page, _NOTES):
        if text := " ".join(str(annotation.get("/Contents", "")).split()):
            yield text if annotation["/Subtype"] == "/FreeText" else f"Note: {text}"


def _annotations(page: Any, kinds: set[str] | frozenset[str]) -> Iterator[Any]:
    for one in page.get("/Annots", None) or ():
        annotation = one.get_object()
        if annotation and annotation.get("/Subtype") in kinds:
            if not int(annotation.get("/F", 0)) & _UNSEEN:
                yield annotation
