"""PDF files by pypdf: their text layer, forms and notes, and which pages cannot be read."""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ras_flow.documents.blocks import Block, plain_blocks
from ras_flow.documents.pdf_marks import form_values, heading_at, headings, notes
from ras_flow.documents.pdf_pages import joined
from ras_flow.documents.shared import DAMAGE, block_document, damaged, given_title
from ras_flow.documents.source import SourceDocument
from ras_flow.errors import DocumentError
from ras_flow.formats.text import has_word
from ras_flow.support.extras import require

_NO_LOG = logging.NullHandler()
_MISSED = 20
"""Letters in unreadable fonts that a page has at least where it is reported; bullets are fewer."""


@dataclass
class _Page:
    number: int
    text: str
    is_scan: bool
    unreadable: int
    headings: dict[str, int] = field(default_factory=dict)
    marks: list[str] = field(default_factory=list)


def read_pdf(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read a PDF file; its title is its metadata's, its headings are those of its outline."""
    pypdf = require("pypdf", extra="documents")
    # Without a handler of the program's, its warnings would go to standard error.
    logging.getLogger("pypdf").addHandler(_NO_LOG)
    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentError(f"{source} is encrypted: save a copy without a password.")
        title = reader.metadata.title if reader.metadata else None
        pages = [_page(page, number) for number, page in enumerate(reader.pages, start=1)]
        for number, marked in headings(reader).items():
            if number < len(pages):
                pages[number].headings = marked
    except DocumentError:
        raise
    except pypdf.errors.DependencyError as error:
        raise DocumentError(
            f"{source} is encrypted with AES, which pypdf reads only with the package "
            "'cryptography': install it, or save a copy without encryption."
        ) from error
    except (pypdf.errors.PyPdfError, pypdf.errors.DeprecationError, *DAMAGE) as error:
        raise damaged(source, "PDF", error) from error
    if not any(has_word(page.text) or page.marks for page in pages):
        raise DocumentError(
            f"{source} {_why_empty(pages)}: run text recognition (OCR) on it first."
        )
    texts = joined([page.text for page in pages], [page.headings for page in pages])
    for page, text in zip(pages, texts, strict=True):
        page.text = text
    title = given_title(title if isinstance(title, str) else "") or Path(source).stem
    blocks = [block for page in pages for block in _blocks(page)]
    yield block_document(source, title, blocks, _gap(pages, source))


def _page(page: Any, number: int) -> _Page:
    texts: list[str] = []
    unreadable = 0

    def see(text: str, _: object, __: object, font: Any, ___: object) -> None:
        nonlocal unreadable
        if _is_readable(font) and not _is_garbled(text):
            texts.append(text)
        else:
            unreadable += len("".join(text.split()))
            texts.append("\n" * text.count("\n"))

    page.extract_text(visitor_text=see)
    text = "".join(texts)
    marks = [*form_values(page), *notes(page)]
    is_scan = not has_word(text) and not unreadable and _has_picture(page)
    return _Page(number, text, is_scan, unreadable, marks=marks)


def _is_readable(font: Any) -> bool:
    """Tell whether a font says which letters its glyphs are, or is one of letters anyway."""
    if not font or font.get("/Subtype") != "/Type0" or "/ToUnicode" in font:
        return True
    return font.get("/Encoding") not in ("/Identity-H", "/Identity-V")


def _is_garbled(text: str) -> bool:
    odd = sum(unicodedata.category(char) in ("Cc", "Co") and not char.isspace() for char in text)
    return odd * 3 > len(text)


def _has_picture(page: Any) -> bool:
    """Tell a page that shows a picture, as a scan does, from a blank one."""
    content = page.get_contents()
    # Not by `page.images`: what is among these need not be on the page, and some are decoded.
    return content is not None and any(
        operator in (b"Do", b"INLINE IMAGE") for _, operator in content.operations
    )


def _why_empty(pages: list[_Page]) -> str:
    if any(page.unreadable for page in pages):
        return "has fonts that do not say which letters they draw"
    return "has no text layer"


def _gap(pages: list[_Page], source: str) -> str:
    """Say which pages were not read, or not whole."""
    scans = [page.number for page in pages if page.is_scan]
    missed = [page.number for page in pages if page.unreadable >= _MISSED]
    gaps = []
    for numbers, what, advice in (
        (scans, "which show pictures and have no text", "If they are scans, run"),
        (missed, "in fonts that do not say which letters they draw", "Run"),
    ):
        if numbers:
            gaps.append(
                f"{len(numbers)} of {len(pages)} pages of {source}, {what} (first: page "
                f"{numbers[0]}). {advice} text recognition (OCR) first."
            )
    return " ".join(gaps)


def _blocks(page: _Page) -> Iterator[Block]:
    anchor = f"page={page.number}"
    lines = page.text.split("\n")
    start = at = 0
    while at < len(lines):
        length, level = heading_at(lines, at, page.headings)
        if length:
            yield from _plain(lines[start:at], anchor)
            text = " ".join(" ".join(lines[at : at + length]).split())
            yield Block("heading", text, level, anchor)
            start = at + length
        at += length or 1
    yield from _plain(lines[start:], anchor)
    for mark in page.marks:
        yield Block("paragraph", mark, anchor=anchor)


def _plain(lines: list[str], anchor: str) -> Iterator[Block]:
    for block in plain_blocks("\n".join(lines)):
        yield Block(block.kind, block.text, anchor=anchor)
