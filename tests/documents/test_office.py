"""PDF and Word files, whole and damaged."""

from __future__ import annotations

import re
import time
import zipfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import docx
import pypdf
import pytest
from docx.opc.constants import CONTENT_TYPE as CT
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from fpdf import FPDF
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from pypdf.generic import ArrayObject, NameObject, TextStringObject

from ras_flow.documents import ReadReport, read_documents
from ras_flow.documents.readers import READERS
from ras_flow.errors import DocumentError
from tests.documents.samples import read, write_docx, write_pdf


@pytest.mark.parametrize("title, expected", [("Radium", "Radium"), ("", "paper")])
def test_pdf(tmp_path: Path, title: str, expected: str) -> None:
    [document] = read(write_pdf(tmp_path / "paper.pdf", title=title))
    assert document.title == expected
    assert document.text == "Radium glows in the dark.\n\nRadium glows in the dark."


def test_words_that_lines_of_a_pdf_part_are_joined(tmp_path: Path) -> None:
    lines = (
        "The infra-\nstructure of a well-\nknown archi-\ntect of the Austro-\nHungarian years\n"
        "1914-\n1918, known in the archi-\ntecture of short- and long-\nterm works - the first.\n"
        "- an item\n- a term"
    )
    [document] = read(write_pdf(tmp_path / "paper.pdf", lines))
    page, _ = document.text.split("\n\n")
    assert page == (
        "The infrastructure of a well-known architect of the Austro-Hungarian years\n"
        "1914-1918, known in the architecture of short- and long-term works - the first.\n"
        "- an item\n- a term"
    )


def test_a_hyphen_that_a_browser_prints_apart_from_its_word_is_joined_too(tmp_path: Path) -> None:
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("helvetica", size=12)
    for place, line in enumerate(["The infra \xad", "structure of a town"]):
        pdf.text(20, 20 + 6 * place, line)
    pdf.output(str(tmp_path / "paper.pdf"))
    assert read(tmp_path / "paper.pdf")[0].text == "The infrastructure of a town"


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


@pytest.mark.parametrize(
    "title",
    ["Untitled Document", "Untitled-1", "PowerPoint Presentation", "Slide 1", "main.dvi"]
    + ["Microsoft Word - Annual report (2)", "C:\\My files\\draft 3.DOC"],
)
def test_a_title_that_a_program_wrote_is_not_used(tmp_path: Path, title: str) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<title>{title}</title><h1>Radium</h1>It glows.")
    files = [
        page,
        write_pdf(tmp_path / "paper.pdf", title=title),
        write_docx(tmp_path / "a.docx", title),
    ]
    assert [one.title for one in read(*files)] == ["Radium", "paper", "First heading"]


def test_a_pdf_may_have_an_owners_password_and_a_title_that_is_not_text(tmp_path: Path) -> None:
    writer = pypdf.PdfWriter(write_pdf(tmp_path / "plain.pdf"))
    assert writer._info is not None
    words = ArrayObject([TextStringObject("Radium"), TextStringObject("notes")])
    writer._info[NameObject("/Title")] = words
    writer.encrypt("", "owner", algorithm="RC4-128")
    writer.write(tmp_path / "locked.pdf")
    [document] = read(tmp_path / "locked.pdf")
    assert document.title == "locked" and "Radium" in document.text


@pytest.mark.parametrize("title, expected", [("Property", "Property"), ("", "First heading")])
def test_docx(tmp_path: Path, title: str, expected: str) -> None:
    [document] = read(write_docx(tmp_path / "a.docx", title))
    assert document.title == expected
    assert document.text.split("\n\n") == [
        "Before the heading.",
        "First heading",
        "cell one cell two",
        "Łódź comes last.",
    ]


def test_a_docx_without_properties_is_titled_by_its_heading(tmp_path: Path) -> None:
    path = write_docx(tmp_path / "a.docx", "Property")
    with zipfile.ZipFile(path) as full, zipfile.ZipFile(tmp_path / "b.docx", "w") as bare:
        for entry in full.infolist():
            if not entry.filename.startswith("docProps/"):
                content = full.read(entry)
                if entry.filename == "_rels/.rels":
                    content = re.sub(rb"<Relationship [^>]*docProps[^>]*/>", b"", content)
                bare.writestr(entry, content)
    assert read(tmp_path / "b.docx")[0].title == "First heading"


@pytest.mark.parametrize("rows", [3, 3_000])
def test_a_merged_cell_of_a_docx_is_read_in_each_of_its_rows(tmp_path: Path, rows: int) -> None:
    document = docx.Document()
    table = document.add_table(0, 0)._tbl

    def cell(text: str, properties: str = "") -> str:
        run = f"<w:r><w:t>{text}</w:t></w:r>" if text else ""
        return f"<w:tc><w:tcPr>{properties}</w:tcPr><w:p>{run}</w:p></w:tc>"

    merged = '<w:gridSpan w:val="2"/><w:vMerge'
    for row in range(rows):
        first = cell(
            "" if row else "Norway", f"{merged}/>" if row else f'{merged} w:val="restart"/>'
        )
        table.append(parse_xml(f"<w:tr {nsdecls('w')}>{cell(f'{row}.')}{first}{cell('x')}</w:tr>"))
    late = '<w:trPr><w:gridBefore w:val="1"/></w:trPr>'
    table.append(parse_xml(f"<w:tr {nsdecls('w')}>{late}{cell('', f'{merged}/>')}</w:tr>"))
    table.append(parse_xml(f"<w:tr {nsdecls('w')}>{cell('nothing above', '<w:vMerge/>')}</w:tr>"))
    document.save(str(tmp_path / "a.docx"))
    start = time.process_time()
    [read_back] = read(tmp_path / "a.docx")
    assert time.process_time() - start < 10, "quadratic time would take minutes"
    lines = read_back.text.split("\n\n")
    assert lines == [*(f"{row}. Norway x" for row in range(rows)), "Norway", "nothing above"]


def test_docx_has_what_word_shows_wherever_it_stands(tmp_path: Path) -> None:
    def words(xml: str) -> Any:
        mc = "http://schemas.openxmlformats.org/markup-compatibility/2006"
        return parse_xml(xml.replace(">", f' {nsdecls("w")} xmlns:mc="{mc}">', 1))

    def run(text: str) -> str:
        return f"<w:r><w:t>{text}</w:t></w:r>"

    def content(inside: str) -> str:
        return f"<w:sdt><w:sdtContent>{inside}</w:sdtContent></w:sdt>"

    document = docx.Document()
    style = '<w:pPr><w:pStyle w:val="Title"/></w:pPr>'
    document.element.body.insert(0, words(content(f"<w:p>{style}{run('Controlled')}</w:p>")))
    paragraph = document.add_paragraph("One")._p
    for inside in (
        f"<w:ins>{run(' two')}</w:ins>",
        f"<w:del>{run(' gone')}</w:del>",
        content(run(" three")),
        f"<w:moveFrom>{run(' left')}</w:moveFrom>",
    ):
        paragraph.append(words(inside))
    box = f"<w:txbxContent><w:p>{run('Boxed')}</w:p></w:txbxContent>"
    paragraph.append(
        words(
            f"<w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice>"
            f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>"
        )
    )
    table = document.add_table(1, 2)
    table.cell(0, 0).text = "cell"
    table.cell(0, 0).add_table(1, 2).cell(0, 1).text = "nested"
    table.cell(0, 1).text = "next"
    row = f"<w:tr><w:tc><w:p>{run('last')}</w:p></w:tc></w:tr>"
    table._tbl.append(words(content(row)))
    document.save(str(tmp_path / "a.docx"))
    [read_back] = read(tmp_path / "a.docx")
    assert read_back.title == "Controlled"
    assert read_back.text.split("\n\n") == [
        "One two three",
        "Boxed",
        "cell nested next",
        "last",
    ]


def test_notes_of_a_docx_are_read(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Lund wrote eight novels.")

    def note(inside: str) -> str:
        return f"<w:footnote><w:p>{inside}</w:p></w:footnote>"

    area = "<w:r><w:t>10</w:t></w:r><w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr>"
    notes = (
        note("<w:r><w:separator/></w:r>"),
        note(
            "<w:r><w:footnoteRef/></w:r><w:r><w:t xml:space='preserve'> In Norwegian.</w:t></w:r>"
        ),
        note("<w:del><w:r><w:t>Gone.</w:t></w:r></w:del>" + area + "<w:t>6</w:t></w:r>"),
    )
    for kind, texts in (("footnotes", notes), ("endnotes", [note("<w:r><w:t>End.</w:t></w:r>")])):
        content = f"<w:{kind} {nsdecls('w')}>{''.join(texts)}</w:{kind}>".encode()
        part = Part(PackURI(f"/word/{kind}.xml"), CT.WML_FOOTNOTES, content, document.part.package)
        document.part.relate_to(part, f"{RT.OFFICE_DOCUMENT.rpartition('/')[0]}/{kind}")
    document.save(str(tmp_path / "a.docx"))
    [read_back] = read(tmp_path / "a.docx")
    assert [text.strip() for text in read_back.text.split("\n\n")] == [
        "Lund wrote eight novels.",
        "In Norwegian.",
        "10^6",
        "End.",
    ]


def test_a_power_in_a_docx_is_not_read_as_another_number(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("H", 1).add_run("2").font.superscript = True
    paragraph = document.add_paragraph("After 10")
    for text in ("6", "th"):
        paragraph.add_run(text).font.superscript = True
        paragraph.add_run(" years, the 19")
    document.save(str(tmp_path / "a.docx"))
    [found] = read(tmp_path / "a.docx")
    assert (found.title, found.text) == ("H2", "After 10^6 years, the 19th years, the 19")


def test_a_long_docx_without_a_title_is_read_in_seconds(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("A line.")
    [line] = document.element.body.p_lst
    for _ in range(10_000):
        line.addnext(deepcopy(line))
    document.save(str(tmp_path / "long.docx"))
    began = time.process_time()
    [read_back] = read(tmp_path / "long.docx")
    assert read_back.text.count("A line.") == 10_001
    assert time.process_time() - began < 4, "it took 11 s, a millisecond for each style"


def test_a_docx_that_unpacks_to_fill_the_memory_is_refused_before_that(tmp_path: Path) -> None:
    with (
        zipfile.ZipFile(write_docx(tmp_path / "whole.docx")) as whole,
        zipfile.ZipFile(tmp_path / "bomb.docx", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bomb,
    ):
        for name in whole.namelist():
            bomb.writestr(name, whole.read(name))
        with bomb.open("word/media/image.png", "w") as picture:
            for _ in range(150):
                picture.write(bytes(1024 * 1024))
    with pytest.raises(DocumentError, match=r"bomb.docx has \d+ bytes and would unpack to 158"):
        read(tmp_path / "bomb.docx")


def test_damage_that_the_libraries_report_oddly_is_named_too(tmp_path: Path) -> None:
    old = write_pdf(tmp_path / "old.pdf")
    old.write_bytes(old.read_bytes().replace(b"/Filter /FlateDecode", b"/Filter /Fl         "))
    stored = tmp_path / "stored.docx"
    with (
        zipfile.ZipFile(write_docx(tmp_path / "whole.docx")) as whole,
        zipfile.ZipFile(stored, "w") as entries,
    ):
        for name in whole.namelist():
            entries.writestr(name, whole.read(name))
    content = stored.read_bytes()
    entry = content.index(b"PK\x01\x02")
    sizes = (2**20).to_bytes(4, "little") * 2
    for name, at, change in (("cut.docx", 20, sizes), ("locked.docx", 8, b"\1")):
        at += entry
        (tmp_path / name).write_bytes(content[:at] + change + content[at + len(change) :])
    for name in ("old.pdf", "cut.docx", "locked.docx"):
        with pytest.raises(DocumentError, match=f"{name} cannot be read as"):
            read(tmp_path / name)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), suffix=st.sampled_from(sorted(READERS)))
def test_damaged_files_raise_nothing_but_document_errors(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, suffix: str
) -> None:
    path = tmp_path_factory.mktemp("damaged") / f"file{suffix}"
    whole = b'{"text": "line"}\n<title>T</title># heading'
    if suffix == ".pdf":
        whole = write_pdf(path).read_bytes()
    if suffix == ".docx":
        whole = write_docx(path).read_bytes()
    start = data.draw(st.integers(0, len(whole)))
    path.write_bytes(
        whole[:start] + data.draw(st.binary(max_size=40)) + whole[data.draw(
            st.integers(0, len(whole))
        ):]
    )  # fmt: skip
    try:
        documents = read(path)
    except DocumentError as error:
        assert path.name in str(error)
    else:
        assert all(document.text.strip() for document in documents)
