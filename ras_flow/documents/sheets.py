"""Excel files by openpyxl: each sheet's tables as a spreadsheet program shows them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZipFile

from ras_flow.documents.blocks import Block
from ras_flow.documents.csv_rows import looks_like_heads
from ras_flow.documents.number_formats import shown_number
from ras_flow.documents.shared import archive, block_document, given_title
from ras_flow.documents.source import SourceDocument
from ras_flow.documents.tables import Cell, table_blocks
from ras_flow.errors import DocumentError
from ras_flow.support.extras import require

_MOST_MERGED = 1_000_000
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?\bref\s*=\s*[\"']([^\"']*)")
_NOT_CALCULATED = re.compile(
    rb"(?:</(?:\w+:)?f>|<(?:\w+:)?f\b[^>]*/>)\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>)?"
    rb"\s*</(?:\w+:)?c>"
)
_UNNAMED = re.compile(r"Sheet|[^\W\d]+ ?1")
"""What programs call the only sheet of a file."""

_Grid = dict[tuple[int, int], Cell]


def read_xlsx(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read the tables of an Excel file, each sheet under its name, without hidden cells."""
    openpyxl = require("openpyxl", extra="documents")
    # It warns of what it would lose if it wrote the file.
    warnings.filterwarnings("ignore", category=UserWarning, module="openpyxl")
    with archive(path, source, SyntaxError) as file:  # An XML parser's error is one.
        uncalculated = _look(file, source, openpyxl.utils.range_boundaries)
        book = openpyxl.load_workbook(file, data_only=True)
        title = given_title(str(book.properties.title or "")) or Path(source).stem
        shown = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        hidden = [sheet.title for sheet in book.worksheets if sheet not in shown]
        blocks: list[Block] = []
        for sheet in shown:
            found = list(_blocks(sheet, hidden))
            if found and not (len(book.worksheets) == 1 and _UNNAMED.fullmatch(sheet.title)):
                blocks.append(Block("heading", sheet.title, 1))
            blocks += found
    gaps = []
    if hidden:
        gaps.append(f"hidden parts of {source}: {', '.join(hidden)}.")
    if uncalculated:
        gaps.append(f"{uncalculated} formulas of {source} without a value: save it in Excel first.")
    yield block_document(source, title, blocks, " ".join(gaps))


def _look(file: BinaryIO, source: str, bounds: Callable[[str], Sequence[int]]) -> int:
    """Refuse what would fill the memory, and count the formulas that have no value."""
    count = merged = 0
    with ZipFile(file) as content:
        for name in content.namelist():
            if re.search(r"worksheets/[^/]+\.xml$", name):
                sheet = content.read(name)
                count += len(_NOT_CALCULATED.findall(sheet))
                for area in _MERGED.findall(sheet):
                    left, top, right, bottom = bounds(area.decode())
                    merged += abs((right - left + 1) * (bottom - top + 1))
    file.seek(0)
    if merged > _MOST_MERGED:
        raise DocumentError(
            f"{source} has {merged:,} merged cells, as a file made to fill the memory would: leave "
            "it out, or save its tables as .csv."
        )
    return count


def _blocks(sheet: Any, hidden: list[str]) -> Iterator[Block]:
    grid = {
        place: Cell(_shown(cell))
        for place, cell in sheet._cells.items()  # Rows and columns up to the last may be millions.
    }
    for area in sheet.merged_cells.ranges:
        whole = grid.get((area.min_row, area.min_col))
        if whole and whole.text:
            grid.update(dict.fromkeys(area.cells, whole))
    rows = {number for number, one in sheet.row_dimensions.items() if one.hidden}
    columns = {
        number
        for one in sheet.column_dimensions.values()
        if one.hidden and one.min and one.max
        for number in range(one.min, min(one.max, sheet.max_column) + 1)
    }
    held = {place for place, cell in grid.items() if cell.text}
    unseen = {place for place in held if place[0] in rows or place[1] in columns}
    if unseen:
        hidden.append(f"{len(unseen)} cells of {sheet.title}")
    grid = {place: grid[place] for place in held - unseen}
    above: list[str] = []
    for part in _parts(grid, rows, columns):
        if len({id(cell) for cell in part.values()}) == 1:
            above.append(next(iter(part.values())).text)
        else:
            yield from _table(part, above)
            above = []
    if above:
        yield Block("paragraph", "\n".join(above))
    for (row, column), cell in sorted(sheet._cells.items()):
        if cell.comment and (row, column) not in unseen:
            note = " ".join(str(cell.comment.text).split())
            yield Block("paragraph", f"Note on {cell.coordinate}: {note}")


def _parts(grid: _Grid, rows: set[int], columns: set[int]) -> list[_Grid]:
    """Return the tables of a sheet, which empty rows and columns separate."""
    parts = [grid]
    for axis, hidden in ((0, rows), (1, columns), (0, rows)):
        parts = [one for part in parts for one in _split(part, axis, hidden)]
    return parts


def _split(grid: _Grid, axis: int, hidden: set[int]) -> Iterator[_Grid]:
    part: _Grid = {}
    last: int | None = None
    for place in sorted(grid, key=lambda one: one[axis]):
        at = place[axis]
        if last is not None and not hidden.issuperset(range(last + 1, at)):
            yield part
            part = {}
        part[place] = grid[place]
        last = at
    if part:
        yield part


def _table(grid: _Grid, above: list[str]) -> Iterator[Block]:
    """Yield a table's rows; lines of one cell above it are its caption."""
    columns = sorted({column for _, column in grid})
    table = [
        [grid.get((row, column), Cell("")) for column in columns]
        for row in sorted({row for row, _ in grid})
    ]
    while len(columns) > 1 and len(texts := _texts(table[0])) == 1 < len(table):
        above = [*above, *texts]
        del table[0]
    if looks_like_heads([[cell.text for cell in row] for row in table]):
        table[0] = [Cell(cell.text, is_head=True) for cell in table[0]]
    yield from table_blocks(table, " ".join(above))


def _texts(row: Sequence[Cell]) -> list[str]:
    """Return the texts of a row's cells; of a merged one, once."""
    return [cell.text for cell in {id(cell): cell for cell in row if cell.text}.values()]


def _shown(cell: Any) -> str:
    """Return what a cell shows; nothing for an error such as #DIV/0!."""
    value = cell.value
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case int() | float():
            return shown_number(value, cell.number_format or "")
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime():
            return value.isoformat(" ", "minutes")
        case date() | time():
            return value.isoformat()
    return "" if cell.data_type == "e" else " ".join(str(value).split())
