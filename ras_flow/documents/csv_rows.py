"""CSV and TSV files: each row with the names of its columns."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import StringIO
from itertools import islice
from pathlib import Path

from ras_flow.documents.plain import decode
from ras_flow.documents.shared import block_document
from ras_flow.documents.source import SourceDocument
from ras_flow.documents.tables import Cell, table_blocks
from ras_flow.errors import DocumentError

_SAMPLE = 50
"""Rows from which the delimiter is guessed."""


def read_csv(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read a table with columns separated by commas, semicolons, tabs or bars."""
    text = decode(path.read_bytes(), source)
    try:
        rows = list(csv.reader(StringIO(text, newline=""), delimiter=_delimiter(text)))
    except csv.Error as error:
        raise DocumentError(
            f"{source} cannot be read as a table ({error}): check its quotation marks."
        ) from error
    filled = [(number, row) for number, row in enumerate(rows, 1) if any(map(str.strip, row))]
    has_heads = looks_like_heads([row for _, row in filled])
    cells = [
        [Cell(" ".join(text.split()), is_head=has_heads and not at) for text in row]
        for at, (_, row) in enumerate(filled)
    ]
    made = list(table_blocks(cells))
    # All rows but the heads, which `table_blocks` may find too.
    below = filled[len(filled) - len(made) :]
    # A row's place as RFC 7111 writes it.
    blocks = [
        replace(block, anchor=f"row={number}")
        for block, (number, _) in zip(made, below, strict=True)
    ]
    yield block_document(source, "", blocks)


def looks_like_heads(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether a table's first row names its columns: all filled, different, no numbers."""
    if len(rows) < 2:
        return False
    names = [text.strip() for text in rows[0]]
    return len(set(names)) == len(names) >= max(map(len, rows[1:])) and all(
        name and not name[0].isdecimal() for name in names
    )


def _delimiter(text: str) -> str:
    """Return the delimiter by which most rows have the same number of columns."""

    def evenness(delimiter: str) -> tuple[int, int]:
        rows = islice(csv.reader(StringIO(text, newline=""), delimiter=delimiter), _SAMPLE)
        widths = Counter(len(row) for row in rows if len(row) > 1)
        width, count = max(widths.items(), key=lambda one: (one[1], one[0]), default=(0, 0))
        return count, width

    return max(",;\t|", key=evenness)
