"""PDF files: pages, words that lines part, forms, and what cannot be read."""

from __future__ import annotations

from pathlib import Path

import pypdf
import pytest
from fpdf import FPDF
from PIL import Image
from pypdf.generic import ArrayObject, NameObject, TextStringObject

from ras_flow.documents import ReadReport, read_documents
from ras_flow.errors import DocumentError
from tests.documents.samples import DATA, passages, read, write_pdf


def test_words_that_lines_of_a_pdf_part_are_joined(tmp_path: Path) -> None:
    lines = (
        "The infra-\nstructure of a well-\nknown archi-\ntect of the Austro-\nHungarian years\n"
        "1914-\n1918, known in the archi-\ntecture of short- and long-\nterm works - the first.\n"
        "- an item\n- a term"
    )
    [document] = read(write_pdf(tmp_path / "paper.pdf", lines, pages=1))
    texts = [block.text for block in document.blocks]
    assert [" ".join(text.split()) for text in texts] == [
        "The infrastructure of a well-known architect of the Austro-Hungarian years "
        "1914-1918, known in the architecture of short- and long-term works - the first.",
        *("- an item", "- a term"),
    ]


def test_a_hyphen_that_a_browser_prints_apart_from_its_word_is_joined_too(tmp_path: Path) -> None:
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("helvetica", size=12)
    for place, line in enumerate(["The infra \xad", "structure of a town"]):
        pdf.text(20, 20 + 6 * place, line)
    pdf.output(str(tmp_path / "paper.pdf"))
    assert read(tmp_path / "paper.pdf")[0].text == "The infrastructure of a town"


def test_a_heading_of_the_outline_is_not_joined_to_the_full_line_before_it(tmp_path: Path) -> None:
    text = f"8\n1 Pumps\n{'The pump was mended in May. ' * 3}\nMeasurements\nIt weighs 12 kg."
    writer = pypdf.PdfWriter(write_pdf(tmp_path / "plain.pdf", text, pages=1))
    for title in ("1 Pumps", "2 Measurements"):
        writer.add_outline_item(title, 0)
    writer.write(tmp_path / "report.pdf")
    titles = [passage["title"] for passage in passages(tmp_path / "report.pdf")]
    assert titles[1:] == ["report › 1 Pumps", "report › Measurements"]


def test_a_pdf_may_have_an_owners_password_and_a_title_that_is_not_text(tmp_path: Path) -> None:
    writer = pypdf.PdfWriter(write_pdf(tmp_path / "plain.pdf"))
    assert writer._info is not None
    writer._info[NameObject("/Title")] = ArrayObject([TextStringObject("Radium")])
    writer.encrypt("", "owner", algorithm="RC4-128")
    writer.write(tmp_path / "locked.pdf")
    [document] = read(tmp_path / "locked.pdf")
    assert document.title == "locked" and "Radium" in document.text


@pytest.mark.parametrize("inline", [False, True])
def test_scanned_pages_of_a_pdf_with_text_are_named_and_blank_ones_are_not(
    tmp_path: Path, inline: bool
) -> None:
    scan = tmp_path / "scan.png"
    Image.new("L", (40, 40), 99).save(scan)
    pdf = FPDF()
    pdf.set_font("helvetica", size=12)
    for kind in "text scan blank scan scan scan text+scan scan".split():
        pdf.add_page()
        if "text" in kind:
            pdf.cell(text="Radium glows.")
        if "scan" in kind and inline:
            pdf._out("q 40 0 0 40 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 /F /AHx ID 63> EI Q")
        elif "scan" in kind:
            pdf.image(scan)
    pdf.output(str(tmp_path / "paper.pdf"))
    report = ReadReport()
    [document] = read_documents([tmp_path / "paper.pdf"], report=report)
    assert document.text.split() == "Radium glows. Radium glows.".split()
    [gap] = report.gaps
    assert gap == document.gap
    assert gap.startswith("5 of 8 pages of ") and "page 2" in gap and "OCR" in gap
    [whole] = read_documents([write_pdf(tmp_path / "whole.pdf")], report=report)
    assert not whole.gap and report.gaps == [gap]


def test_pages_in_fonts_that_do_not_tell_their_letters_are_told(tmp_path: Path) -> None:
    writer = pypdf.PdfWriter(DATA / "pump_house.pdf")
    for page in writer.pages:
        for font in page["/Resources"]["/Font"].values():  # type: ignore[index, attr-defined]
            font.get_object().pop("/ToUnicode", None)
    writer.write(tmp_path / "garbled.pdf")
    with pytest.raises(DocumentError, match="fonts"):
        read(tmp_path / "garbled.pdf")
    writer.append(write_pdf(tmp_path / "plain.pdf", pages=1))
    writer.write(tmp_path / "mixed.pdf")
    [document] = read(tmp_path / "mixed.pdf")
    assert document.text == "Radium glows in the dark."
    assert document.gap.startswith("2 of 3 pages") and "OCR" in document.gap


def test_what_stands_at_the_edges_of_many_pages_is_read_once(tmp_path: Path) -> None:
    pdf = FPDF()
    pdf.set_font("helvetica", size=12)
    for number in range(1, 5):
        pdf.add_page()
        for line in ("Harsund Waterworks", f"Pump {number}0 stands in hall {number} of the water-"):
            pdf.cell(text=line, new_x="LMARGIN", new_y="NEXT")
        pdf.cell(text=f"{number} / 4")
    pdf.output(str(tmp_path / "paper.pdf"))
    [document] = read(tmp_path / "paper.pdf")
    assert document.text.count("Harsund Waterworks") == 1 and "/ 4" not in document.text
    assert "hall 1 of the water-Pump" in document.text, "the hyphen and its word meet"
