"""Word files by python-docx: what Word shows, wherever it stands in the file."""

from __future__ import annotations

from collections.abc import Iterator
from io import SEEK_END
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile

from ras_flow.documents.shared import (
    DAMAGE,
    RAISED,
    as_powers,
    damaged,
    given_title,
    make_document,
)
from ras_flow.documents.source import SourceDocument
from ras_flow.errors import DocumentError
from ras_flow.support.extras import require

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_COMPATIBLE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_GONE = (f"{_WORD}del", f"{_WORD}moveFrom", f"{_COMPATIBLE}Fallback")
"""Elements whose text was deleted or is there a second time."""
_AROUND = (
    *map(_WORD.__add__, "ins moveTo sdt sdtContent fldSimple smartTag customXml".split()),
    *map(_COMPATIBLE.__add__, ("AlternateContent", "Choice")),
)
"""Elements around paragraphs, rows and runs, which python-docx does not look into."""
_NOTES = ("/footnotes", "/endnotes")
"""How the relations to the parts with notes end."""
_UNPACKED_FREELY, _UNPACKED_FOLD = 128 * 1024 * 1024, 20
"""A file may unpack to so many bytes, or to so many times its size: a zip bomb is small."""


def read_docx(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read a Word file, notes last; the title is its property's, or its first title or heading."""
    docx = require("docx", extra="documents")
    etree = require("lxml.etree", extra="documents")
    raised = etree.XPath(
        ".//w:r[w:rPr/w:vertAlign/@w:val='superscript']", namespaces={"w": _WORD.strip("{}")}
    )
    try:
        with path.open("rb") as file:
            _check_unpacked(file, source)
            document = docx.Document(file)
        notes = [
            docx.oxml.parse_xml(relation.target_part.blob)
            for relation in document.part.rels.values()
            if relation.reltype.endswith(_NOTES)
        ]
        for root in (document.element.body, *notes):
            etree.strip_elements(root, *_GONE, with_tail=False)
            etree.strip_tags(root, *_AROUND)
            for run in raised(root):
                run.text = f"{RAISED}{run.text}"
        # python-docx writes a title of its own into a file without properties.
        title = given_title(document.core_properties.title)
        blocks: list[str] = []
        plain: set[str | None] = set()  # To find a style takes python-docx a millisecond.
        for block in document.iter_inner_content():
            if isinstance(block, docx.table.Table):
                blocks.extend(_rows(block))
                continue
            blocks.extend(_paragraphs(block._p))
            if not title and block._p.style not in plain and block.text.strip():
                if block.style and str(block.style.name).startswith(("Title", "Heading")):
                    title = block.text
                plain.add(block._p.style)
        for note in notes:
            blocks.extend(_paragraphs(note))
    except DocumentError:
        raise
    # zipfile raises a RuntimeError for an encrypted entry.
    except (docx.opc.exceptions.OpcError, etree.Error, BadZipFile, RuntimeError, *DAMAGE) as error:
        raise damaged(source, ".docx", error) from error
    yield make_document(source, as_powers(title), as_powers("\n\n".join(blocks)))


def _check_unpacked(file: BinaryIO, source: str) -> None:
    """Refuse an archive that unpacks to far more than its size."""
    with ZipFile(file) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
    size = file.seek(0, SEEK_END)
    file.seek(0)
    if unpacked > max(_UNPACKED_FREELY, _UNPACKED_FOLD * size):
        raise DocumentError(
            f"{source} has {size} bytes and would unpack to {unpacked}, as a file made to fill the "
            "memory would: leave it out, or save its text as .txt."
        )


def _rows(table: Any) -> Iterator[str]:
    """Yield the text of each row; a cell that is merged over several rows is in each of them.

    python-docx's own cells come once for each column, and recurse over merged rows.
    """
    shown: dict[int, Any] = {}
    for row in table.rows:
        above, shown, column = shown, {}, row.grid_cols_before
        for cell in row._tr.tc_lst:
            shown[column] = above.get(column, cell) if cell.vMerge == "continue" else cell
            column += cell.grid_span
        yield " ".join(text for cell in shown.values() for text in _paragraphs(cell))


def _paragraphs(element: Any) -> list[str]:
    """Return the texts of a paragraph or cell, and of the tables and text boxes in it."""
    texts = (paragraph.text for paragraph in element.iter(f"{_WORD}p"))
    return [text for text in texts if text.strip()]
