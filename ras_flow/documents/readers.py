"""One reader for each file type: title and text of a file's documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from ras_flow.documents.csv_rows import read_csv
from ras_flow.documents.epub import read_epub
from ras_flow.documents.html import read_html
from ras_flow.documents.markdown import read_markdown
from ras_flow.documents.pdf import read_pdf
from ras_flow.documents.plain import read_jsonl, read_text
from ras_flow.documents.sheets import read_xlsx
from ras_flow.documents.slides import read_pptx
from ras_flow.documents.source import SourceDocument
from ras_flow.documents.word import read_docx
from ras_flow.errors import DocumentError

Reader = Callable[[Path, str], Iterator[SourceDocument | DocumentError]]

READERS: dict[str, Reader] = {
    ".txt": read_text,
    ".md": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".pdf": read_pdf,
    ".docx": read_docx,
    ".epub": read_epub,
    ".pptx": read_pptx,
    ".xlsx": read_xlsx,
    ".csv": read_csv,
    ".tsv": read_csv,
    ".jsonl": read_jsonl,
}
