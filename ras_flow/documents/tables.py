"""Tables to blocks: each row with the names of its columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ras_flow.documents.blocks import Block
from ras_flow.documents.words import SHORT_LEAD, count_words
from ras_flow.formats.rows import EMPTY

_WIDEST = 100
"""The most columns that one cell spans: a file can claim any number."""
_LONGEST_HEAD = 6


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text in one line, whether it is a head, and how far it reaches."""

    text: str
    is_head: bool = False
    columns: int = 1
    rows: int = 1


def table_blocks(
    rows: Sequence[Sequence[Cell]], caption: str = "", anchor: str = ""
) -> Iterator[Block]:
    """Yield a block for each row, such as "Office: Lisbon; Office manager: Tomás Ferreira".

    Rows all of whose cells are heads name the columns below them; in a table without any, the first
    row does if it looks like it. A row that is one cell leads the rows below it, as the caption
    leads all. An empty cell is "-".
    """
    grid = _grid(rows)
    width = max(map(len, grid), default=0)
    body = [row for row in grid if row and not _is_wide(row, width)]
    heads = {id(row) for row in body if all(cell.is_head or not cell.text for cell in row)}
    if len(heads) == len(body):  # Marked as heads, but of nothing.
        heads = set()
    if not heads and _looks_like_heads(body):
        heads = {id(body[0])}
    # Without heads of any kind, the first row may be what names the columns.
    first = _row(body[0], []) if body and not heads and not body[0][0].is_head else ""
    above: list[str] = []
    names: list[list[Cell]] = []
    before: list[Cell] = []
    if count_words(caption) > SHORT_LEAD:
        yield Block("paragraph", caption, anchor=anchor)
        caption = ""
    untold = [caption] if caption else []
    for row in grid:
        if _is_wide(row, width):
            above = [*above, row[0].text] if _is_wide(before, width) else [row[0].text]
            untold.append(row[0].text)
        elif id(row) in heads:
            names = [*names, row] if id(before) in heads else [row]
        elif text := _row(row, names):
            told = (caption, first if text != first else "", *above)
            lead = tuple(filter(None, told))
            yield Block("row", text, anchor=anchor, lead=lead)
            untold = []
        before = row
    for text in untold:  # A note below the table, say.
        yield Block("paragraph", text, anchor=anchor)


def _grid(rows: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    """Return each row's cell in each column; one that spans several is in each of them."""
    grid: list[list[Cell]] = []
    spanning: dict[int, tuple[Cell, int]] = {}
    for cells in rows:
        row: list[Cell] = []
        left = list(reversed(cells))
        while left or len(row) in spanning:
            if len(row) in spanning:
                cell, more = spanning.pop(len(row))
                reach = 1
            else:
                cell = left.pop()
                more, reach = cell.rows - 1, min(max(cell.columns, 1), _WIDEST)
            for column in range(len(row), len(row) + reach):
                row.append(cell)
                if more > 0:
                    spanning[column] = (cell, more - 1)
        grid.append(row)
    return grid


def _is_wide(row: Sequence[Cell], width: int) -> bool:
    """Tell whether a row is one cell over the whole table."""
    return len(row) == width > 1 and bool(row[0].text) and all(cell is row[0] for cell in row)


def _looks_like_heads(body: Sequence[Sequence[Cell]]) -> bool:
    """Tell whether an unmarked first row names columns: short names without digits, all different.

    Of two columns the first may as well name what is in the second.
    """
    if len(body) < 2 or len(body[0]) < 3:
        return False
    texts = [cell.text for cell in body[0]]
    return len(set(texts)) == len(texts) and all(
        0 < count_words(text) <= _LONGEST_HEAD and not re.search(r"\d", text) for text in texts
    )


def _row(row: Sequence[Cell], names: Sequence[Sequence[Cell]]) -> str:
    """Write a row; empty where all of its cells are.

    A column without a name is written as named "-" where its cell could be taken for a name and a
    value, or for more of the cell before.
    """
    if not any(cell.text for cell in row):
        return ""
    written: list[str] = []
    column = 0
    for _, same in groupby(row, id):
        cells = list(same)
        columns = range(column, column + len(cells))
        column += len(cells)
        name = ", ".join(dict.fromkeys(filter(None, (_name(names, at) for at in columns))))
        value = cells[0].text or EMPTY
        if names and not name and (written or ": " in value):
            if value == EMPTY:
                continue
            name = EMPTY
        written.append(f"{name}: {value}" if name else value)
    if not names and len(written) == 2:
        return ": ".join(written)
    return "; ".join(written)


def _name(names: Sequence[Sequence[Cell]], column: int) -> str:
    """Return a column's name: of heads below one another, "2024 Sales"."""
    texts = (row[column].text for row in names if column < len(row))
    return " ".join(dict.fromkeys(filter(None, texts)))
