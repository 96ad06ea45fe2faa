"""Documents to read, and files made for the tests."""

from __future__ import annotations

from pathlib import Path

import docx
from fpdf import FPDF

from ras_flow.documents import SourceDocument, read_documents
from ras_flow.documents.split import split_document
from ras_flow.state.schema import Passage

DATA = Path(__file__).parents[1] / "data" / "documents"
"""One harbour's documents, in every format."""

LONG = "Radium " * 50
"""Longer than a title may be."""
TOWNS = [f"Town{number}" for number in range(60)]


def read(*paths: Path) -> list[SourceDocument]:
    return list(read_documents(paths))


def passages(*paths: Path) -> list[Passage]:
    return [passage for document in read(*paths) for passage in split_document(document)]


def words(text: str) -> str:
    return " ".join(text.split())


def write_pdf(
    path: Path, text: str = "Radium glows in the dark.", title: str = "", pages: int = 2
) -> Path:
    """Write a text onto each page."""
    pdf = FPDF()
    if title:
        pdf.set_title(title)
    for _ in range(pages):
        pdf.add_page()
        pdf.set_font("helvetica", size=12)
        pdf.multi_cell(0, text=text)
    pdf.output(str(path))
    return path


def write_docx(path: Path, title: str = "") -> Path:
    document = docx.Document()
    document.core_properties.title = title
    document.add_paragraph("Before the heading.")
    document.add_heading("First heading", level=1)
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = "cell one", "cell two"
    document.add_paragraph("Łódź comes last.")
    document.save(str(path))
    return path
