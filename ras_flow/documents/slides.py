"""PowerPoint files by python-pptx: each slide under its title, with the speaker's notes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ras_flow.documents.blocks import Block
from ras_flow.documents.equations import MATH, equation_text
from ras_flow.documents.shared import archive, block_document, given_title
from ras_flow.documents.source import SourceDocument
from ras_flow.documents.tables import Cell, table_blocks
from ras_flow.support.extras import require

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_COMPATIBLE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_EDGES = ("DATE", "FOOTER", "SLIDE_NUMBER")
"""Placeholders whose text is on every slide."""


def read_pptx(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read a PowerPoint file without its hidden slides; a passage leads to its slide as a page."""
    from lxml import etree  # noqa: PLC0415

    pptx = require("pptx", extra="documents")
    errors = (pptx.exc.PythonPptxError, etree.Error)
    with archive(path, source, *errors) as file:
        show = pptx.Presentation(file)
        title = given_title(show.core_properties.title)
        blocks = [
            replace(block, anchor=f"page={number}")
            for number, slide in enumerate(show.slides, start=1)
            if slide._element.get("show") not in ("0", "false")
            for block in _slide(slide, number)
        ]
    yield block_document(source, title, blocks)


def _slide(slide: Any, number: int) -> Iterator[Block]:
    from lxml import etree  # noqa: PLC0415

    etree.strip_elements(slide._element, f"{_COMPATIBLE}Fallback", with_tail=False)
    etree.strip_tags(slide._element, *map(_COMPATIBLE.__add__, ("AlternateContent", "Choice")))
    shapes = list(_placed(slide.shapes))
    title = slide.shapes.title
    heading = " ".join(_text(title._element).split()) if title is not None else ""
    yield Block("heading", heading or f"Slide {number}", 1)
    for shape in shapes:
        if title is None or shape.shape_id != title.shape_id:
            yield from _shape(shape)
    if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None:
        if notes := _text(frame._txBody).strip():
            yield Block("paragraph", f"Notes: {notes}")


def _placed(shapes: Any) -> Iterator[Any]:
    """Yield shapes from top to bottom and left to right; groups give way to their shapes."""
    for shape in sorted(shapes, key=lambda one: (one.top or 0, one.left or 0)):
        if hasattr(shape, "shapes"):
            yield from _placed(shape.shapes)
        else:
            yield shape


def _shape(shape: Any) -> Iterator[Block]:
    if shape.is_placeholder and shape.placeholder_format.type.name in _EDGES:
        return
    if shape.has_table:
        yield from table_blocks(list(_rows(shape.table)))
    elif shape.has_text_frame:
        paragraphs = [
            (paragraph.level, text)
            for paragraph in shape.text_frame.paragraphs
            if (text := _text(paragraph._p).strip())
        ]
        is_list = shape.is_placeholder and len(paragraphs) > 1
        around: list[str] = []
        for level, text in paragraphs:
            if not is_list:
                yield Block("paragraph", text)
                continue
            line = f"{'  ' * level}- {text}".replace("\n", f"\n{'  ' * level}  ")
            around = around[:level]
            yield Block("item", line, lead=tuple(around))
            around.append(line)


def _rows(table: Any) -> Iterator[list[Cell]]:
    for number, row in enumerate(table.rows):
        yield [
            Cell(
                " ".join(_text(cell._tc).split()),
                is_head=number == 0 and bool(table.first_row),
                columns=cell.span_width,
                rows=cell.span_height,
            )
            for cell in row.cells
            if not cell.is_spanned
        ]


def _text(element: Any) -> str:
    """Return the text of an element, with a line for each paragraph, and with its equations."""
    text = ""
    for node in element.iter(*map(_DRAWING.__add__, ("p", "br", "t")), f"{MATH}oMath"):
        if node.tag == f"{MATH}oMath":
            text += equation_text(node)
        elif node.tag == f"{_DRAWING}t":
            text += node.text or ""
        else:
            text += "\n" if text else ""
    return text
