"""Triples that a model writes without markers, in forms that leave no doubt of what is what.

Those are tables whose header names the columns, and brackets around three fields.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress

COLUMNS = {
    "s": "subject",
    "subject": "subject",
    "head": "subject",
    "p": "predicate",
    "predicate": "predicate",
    "relation": "predicate",
    "o": "object",
    "object": "object",
    "tail": "object",
}
"""What models call the parts of a triple, in lower case."""

DECODER = json.JSONDecoder(parse_int=str, parse_float=str, strict=False)
"""Reads JSON as models write it: numbers as texts, and line breaks within strings."""

_PARTS = ("subject", "predicate", "object")
_FIELD = r"(?!\s*\w\s*[>＞〉])((?:[^()\[\]|\n]|\([^()|\n]*\)){1,300})"
_QUOTED = r"\s*(?:\"((?:\\.|[^\"\\\n]){1,300})\"|'((?:\\.|[^'\\\n]){1,300})')\s*"
_NUMBER = r"\s*(-?\d[\d.]{0,300})\s*"
_BRACKETS = re.compile(
    rf"[(\[]{_FIELD}\|{_FIELD}\|{_FIELD}[)\]]"
    rf"|[(\[]{_QUOTED},{_QUOTED},(?:{_QUOTED}|{_NUMBER})[)\]]"
)
_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"[\s:|-]*")


def read_rows(text: str) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Read such triples."""
    for match in _BRACKETS.finditer(text):
        first, second, third = (part for part in match.groups() if part is not None)
        if match[1] is None:
            with suppress(ValueError):  # Python's lists are no JSON.
                first, second, third = DECODER.decode(match[0])
        yield match[0], (first, second, third)
    columns: list[str | None] = []
    for line in text.split("\n"):
        cells = [cell.strip(" \t\r*`") for cell in _BAR.split(line.strip().strip("|"))]
        names = [COLUMNS.get(cell.lower()) for cell in cells]
        if set(_PARTS) <= set(names):
            columns = names
        elif len(cells) != len(columns):
            columns = []
        elif not _RULE.fullmatch(line):
            first, second, third = (cells[columns.index(part)] for part in _PARTS)
            yield line, (first, second, third)
