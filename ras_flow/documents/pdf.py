"""PDF files by pypdf: their text layer, and the pages that have none."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ras_flow.documents.shared import DAMAGE, damaged, given_title, make_document
from ras_flow.documents.source import SourceDocument
from ras_flow.errors import DocumentError
from ras_flow.formats.text import has_word
from ras_flow.support.extras import require

_CUT_WORD = re.compile(r"(?<!\w)(\w++)(?:-| ?[\xad‐])[ \t]*\n[ \t]*(\w++)")
_NO_LOG = logging.NullHandler()


def read_pdf(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read a PDF file's text layer, whose words lines may part; its title is its metadata's."""
    pypdf = require("pypdf", extra="documents")
    # Without a handler of the program's, its warnings would go to standard error.
    logging.getLogger("pypdf").addHandler(_NO_LOG)
    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentError(f"{source} is encrypted: save a copy without a password.")
        title = reader.metadata.title if reader.metadata else None
        texts = [page.extract_text() for page in reader.pages]
        scans = [
            number
            for number, (page, text) in enumerate(zip(reader.pages, texts, strict=True), start=1)
            if not has_word(text) and _has_picture(page)
        ]
    except DocumentError:
        raise
    except pypdf.errors.DependencyError as error:
        raise DocumentError(
            f"{source} is encrypted with AES, which pypdf reads only with the package "
            "'cryptography': install it, or save a copy without encryption."
        ) from error
    except (pypdf.errors.PyPdfError, pypdf.errors.DeprecationError, *DAMAGE) as error:
        raise damaged(source, "PDF", error) from error
    text = "\n\n".join(texts)
    # A font that does not tell which letters it draws gives NULs.
    if not has_word(text):
        raise DocumentError(f"{source} has no text layer: run text recognition (OCR) on it first.")
    document = make_document(
        source, given_title(title if isinstance(title, str) else ""), _rejoined(text)
    )
    if scans:
        gap = (
            f"{len(scans)} of {len(texts)} pages of {source}, which show pictures and have no text "
            f"(first: page {scans[0]}). If they are scans, run text recognition (OCR) first."
        )
        document = replace(document, gap=gap)
    yield document


def _has_picture(page: Any) -> bool:
    """Tell a page that shows a picture, as a scan does, from a blank one."""
    content = page.get_contents()
    # Not by `page.images`: what is among these need not be on the page, and some are decoded.
    return content is not None and any(
        operator in (b"Do", b"INLINE IMAGE") for _, operator in content.operations
    )


def _rejoined(text: str) -> str:
    """Join the words that lines part. A hyphen stays where it may be the word's own.

    It goes if the second half is not a word elsewhere in the text, or the whole is.
    """
    known = set(re.findall(r"\w+", _CUT_WORD.sub(" ", text).casefold()))

    def join(cut: re.Match[str]) -> str:
        first, second = cut.groups()
        rest = second.casefold()
        whole = second[0].islower() and (rest not in known or first.casefold() + rest in known)
        return first + second if whole else f"{first}-{second}"

    return _CUT_WORD.sub(join, text)
