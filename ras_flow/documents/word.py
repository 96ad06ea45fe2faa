"""Word files by python-docx: what Word shows, with its headings, lists and tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ras_flow.documents.blocks import Block
from ras_flow.documents.shared import archive, as_powers, block_document, given_title
from ras_flow.documents.source import SourceDocument
from ras_flow.documents.tables import Cell, table_blocks
from ras_flow.documents.word_lists import WORD, Lists
from ras_flow.documents.word_styles import Styles
from ras_flow.documents.word_text import make_plain, without_page_numbers
from ras_flow.documents.words import items_above
from ras_flow.support.extras import require

_NOTES = ("footnote", "endnote")


def read_docx(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read a Word file; the title is its property's, or its first title or heading."""
    from lxml import etree  # noqa: PLC0415

    docx = require("docx", extra="documents")
    with archive(path, source, docx.opc.exceptions.OpcError, etree.Error) as file:
        document = docx.Document(file)
        # python-docx writes a title of its own into a file without properties.
        title = given_title(document.core_properties.title)
        blocks = list(_Reader(document).blocks())
    yield block_document(source, as_powers(title), blocks)


class _Reader:
    def __init__(self, document: Any) -> None:
        self._parse = require("docx.oxml", extra="documents").parse_xml
        self._document = document
        self._styles = Styles(document.styles.element)
        self._lists = Lists(next(self._parts("/numbering"), None))
        self._notes: dict[tuple[str, str], Any] = {}
        for kind in _NOTES:
            for part in self._parts(f"/{kind}s"):
                make_plain(part, self._styles)
                for note in part:
                    self._notes[kind, note.get(f"{WORD}id", "")] = note

    def _parts(self, kind: str) -> Iterator[Any]:
        for relation in self._document.part.rels.values():
            if relation.reltype.endswith(kind):
                yield self._parse(relation.target_part.blob)

    def blocks(self) -> Iterator[Block]:
        """Yield what the file shows; first, once, what is at the edges of its pages."""
        yield from self._edges("/header")
        yield from self._edges("/footer")
        body = self._document.element.body
        make_plain(body, self._styles)
        yield from _joined_code(_around_nested(self._inside(body)))

    def _edges(self, kind: str) -> Iterator[Block]:
        shown: dict[str, None] = {}
        for part in self._parts(kind):
            without_page_numbers(part)
            make_plain(part, self._styles)
            shown |= dict.fromkeys(filter(None, map(_text, part.iter(f"{WORD}p"))))
        yield from (Block("paragraph", text) for text in shown)

    def _inside(self, element: Any) -> Iterator[tuple[Block, int]]:
        """Yield the blocks in an element, each with the depth of its list."""
        for child in element:
            if child.tag == f"{WORD}p":
                for paragraph in child.iter(f"{WORD}p"):  # It may have text boxes.
                    yield from self._paragraph(paragraph)
                yield from self._notes_of(child)
            elif child.tag == f"{WORD}tbl":
                yield from self._table(child)

    def _paragraph(self, paragraph: Any) -> Iterator[tuple[Block, int]]:
        style = self._styles.of(paragraph)
        label = self._lists.label(*style.list) if style.list else None
        text = as_powers(paragraph.text).rstrip() if style.is_code else _text(paragraph)
        if not text or style.is_contents:
            return
        if style.level is not None:
            number = f"{label.text} " if label and label.text != "-" else ""
            yield Block("heading", " ".join(f"{number}{text}".split()), style.level), 0
        elif label and label.text:
            yield Block("item", f"{'  ' * label.depth}{label.text} {text}"), label.depth
        else:
            yield Block("code" if style.is_code else "paragraph", text), 0

    def _table(self, table: Any) -> Iterator[tuple[Block, int]]:
        rows = _rows(table)
        if all(len(row) == 1 for row in rows):  # A frame around text.
            for cell in dict.fromkeys(row[0][0] for row in rows):
                yield from self._inside(cell)
            return
        cells = [[cell for _, cell in row] for row in rows]
        yield from ((block, 0) for block in table_blocks(cells))
        yield from self._notes_of(table)

    def _notes_of(self, element: Any) -> Iterator[tuple[Block, int]]:
        for kind in _NOTES:
            for reference in element.iter(f"{WORD}{kind}Reference"):
                note = self._notes.get((kind, reference.get(f"{WORD}id", "")))
                if note is not None and (text := _all_text(note)):
                    yield Block("paragraph", text), 0


def _text(paragraph: Any) -> str:
    return as_powers(paragraph.text).strip()


def _all_text(element: Any) -> str:
    """Return the text of a cell or note in one line, with that of tables and boxes in it."""
    return " ".join(" ".join(map(_text, element.iter(f"{WORD}p"))).split())


def _rows(table: Any) -> list[list[tuple[Any, Cell]]]:
    """Return the cells of each row, with their elements; one below others in each of its rows.

    python-docx's own cells come once for each column, and recurse over merged rows.
    """
    rows = []
    above: dict[int, tuple[Any, str]] = {}
    for row in table.tr_lst:
        is_head = row.find(f"{WORD}trPr/{WORD}tblHeader") is not None
        cells: list[tuple[Any, Cell]] = []
        if row.grid_before:
            cells.append((None, Cell("", columns=row.grid_before)))
        here: dict[int, tuple[Any, str]] = {}
        column = row.grid_before
        for cell in row.tc_lst:
            shown = above.get(column) if cell.vMerge == "continue" else None
            here[column] = shown or (cell, _all_text(cell))
            element, text = here[column]
            cells.append((element, Cell(text, is_head, cell.grid_span)))
            column += cell.grid_span
        rows.append(cells)
        above = here
    return rows


def _around_nested(blocks: Iterator[tuple[Block, int]]) -> Iterator[Block]:
    """Make an item that has a list in it lead that list's items."""
    around: list[tuple[int, str]] = []
    for block, depth in blocks:
        while around and (block.kind != "item" or around[-1][0] >= depth):
            around.pop()
        if block.kind == "item":
            lead = items_above(text for _, text in around)
            around.append((depth, block.text))
            block = replace(block, lead=lead)
        yield block


def _joined_code(blocks: Iterator[Block]) -> Iterator[Block]:
    """Make one block of code of the paragraphs that are its lines."""
    code: list[str] = []
    for block in blocks:
        if block.kind == "code":
            code.append(block.text)
            continue
        if code:
            yield Block("code", "\n".join(code))
            code = []
        yield block
    if code:
        yield Block("code", "\n".join(code))
