"""Office and EPUB files, and damage of any."""

from __future__ import annotations

import re
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import docx
import pptx
import pytest
from docx.opc.constants import CONTENT_TYPE as CT
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ras_flow.documents.reading import READERS
from ras_flow.errors import DocumentError
from tests.documents.samples import DATA, read, write_docx, write_pdf


def test_hidden_slides_and_encrypted_chapters_are_not_read(tmp_path: Path) -> None:
    show = pptx.Presentation(str(DATA / "island.pptx"))
    show.slides[1]._element.set("show", "0")
    show.save(str(tmp_path / "a.pptx"))
    [slides] = read(tmp_path / "a.pptx")
    assert "31 metres" not in slides.text and "page=3" in {one.anchor for one in slides.blocks}
    book = tmp_path / "a.epub"
    book.write_bytes((DATA / "reader.epub").read_bytes())
    with zipfile.ZipFile(book, "a") as content:
        locked = "<encryption><CipherReference URI='EPUB/text/ch002.xhtml'/></encryption>"
        content.writestr("META-INF/encryption.xml", locked)
    with pytest.raises(DocumentError, match="is encrypted"):
        read(book)


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


def write_body(path: Path, content: str, notes: Sequence[str] = ()) -> Path:
    """Write a Word file of raw XML; `~` stands for the namespace of words."""
    mc = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    document = docx.Document()
    body = f'<w:body {nsdecls("w")} xmlns:mc="{mc}">{content}</w:body>'.replace("~", "w:")
    for child in reversed(parse_xml(body)):
        document.element.body.insert(0, child)
    if notes:
        inside = "".join(
            f"<~footnote ~id='{number}'><~p>{note}</~p></~footnote>"
            for number, note in enumerate(notes)
        )
        xml = f"<w:footnotes {nsdecls('w')}>{inside}</w:footnotes>".replace("~", "w:").encode()
        part = Part(PackURI("/word/notes.xml"), CT.WML_FOOTNOTES, xml, document.part.package)
        document.part.relate_to(part, f"{RT.OFFICE_DOCUMENT.rpartition('/')[0]}/footnotes")
    document.save(str(path))
    return path


def run(text: str, properties: str = "") -> str:
    return f"<~r>{properties}<~t xml:space='preserve'>{text}</~t></~r>"


RAISED = "<~rPr><~vertAlign ~val='superscript'/></~rPr>"


@pytest.mark.parametrize("rows", [3, 3_000])
def test_a_merged_cell_of_a_docx_is_read_in_each_of_its_rows(tmp_path: Path, rows: int) -> None:
    def cell(text: str, properties: str = "") -> str:
        return f"<~tc><~tcPr>{properties}</~tcPr><~p>{run(text) if text else ''}</~p></~tc>"

    span, merged = "<~gridSpan ~val='2'/>", "<~vMerge/>"
    first = cell("Norway", f"{span}<~vMerge ~val='restart'/>")
    table = "".join(
        f"<~tr>{cell(f'{row}.')}{cell('', span + merged) if row else first}{cell('x')}</~tr>"
        for row in range(rows)
    )
    late = f"<~tr><~trPr><~gridBefore ~val='1'/></~trPr>{cell('', span + merged)}</~tr>"
    lone = f"<~tr>{cell('nothing above', merged)}</~tr>"
    start = time.process_time()
    [found] = read(write_body(tmp_path / "a.docx", f"<~tbl>{table}{late}{lone}</~tbl>"))
    assert time.process_time() - start < 10, "quadratic time would take minutes"
    lines = [block.text for block in found.blocks]
    shown = [f"{row}.; Norway; x" for row in range(rows)]
    assert lines == [*shown, "-: Norway", "nothing above"]


def test_docx_has_what_word_shows_wherever_it_stands(tmp_path: Path) -> None:
    def controlled(inside: str) -> str:
        return f"<~sdt><~sdtContent>{inside}</~sdtContent></~sdt>"

    box = f"<~txbxContent><~p>{run('Boxed')}</~p></~txbxContent>"
    table = (
        f"<~tbl><~tr><~tc><~p>{run('cell')}</~p><~tbl><~tr><~tc><~p>{run('nested')}</~p></~tc></~tr>"
        f"</~tbl><~p/></~tc><~tc><~p>{run('next')}</~p></~tc></~tr>"
        + controlled(f"<~tr><~tc><~p>{run('last')}</~p></~tc></~tr>")
        + "</~tbl>"
    )
    content = (
        controlled(
            f"<~p><~pPr><~pStyle ~val='Title'/></~pPr>{run('Controlled')}{run('2', RAISED)}</~p>"
        )
        + f"<~p>{run('One')}<~ins>{run(' two')}</~ins><~del>{run(' gone')}</~del>"
        + controlled(run(" three"))
        + f"<~moveFrom>{run(' left')}</~moveFrom><~r><mc:AlternateContent><mc:Choice>{box}"
        + f"</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></~r></~p>{table}"
        + f"<~p>{run('After 10')}{run('6', RAISED)}{run(', the 19')}{run('th', RAISED)}"
        + "<~r><~footnoteReference ~id='1'/></~r><~r><~footnoteReference ~id='2'/></~r></~p>"
    )
    notes = (
        "<~r><~separator/></~r>",
        f"<~r><~footnoteRef/></~r>{run(' In Norwegian.')}<~del>{run('Gone.')}</~del>",
        f"{run('10')}{run('6', RAISED)}",
    )
    [found] = read(write_body(tmp_path / "a.docx", content, notes))
    assert found.title == "Controlled2"
    assert [block.text for block in found.blocks] == [
        *("Controlled2", "One two three", "Boxed", "cell nested: next", "last"),
        *("After 10^6, the 19th", "In Norwegian.", "10^6"),
    ]


MATH = "xmlns:m='http://schemas.openxmlformats.org/officeDocument/2006/math'"


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (run("20") + run("SECRET", "<~rPr><~vanish/></~rPr>") + run(" bar"), "20 bar"),
        (run("20", "<~rPr><~vanish ~val='false'/></~rPr>") + run(" bar"), "20 bar"),
        ("<~r><~sym ~font='Symbol' ~char='F0B1'/></~r>" + run("2"), "±2"),
        ("<~r><~sym ~font='Wingdings' ~char='F0FC'/></~r>" + run(" done"), "✓ done"),
        ("<~r><~t>20</~t><~noBreakHyphen/><~t>25</~t></~r>", "20-25"),
        (
            run("It is ")
            + f"<m:oMath {MATH}><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:rad><m:e>"
            "<m:r><m:t>c</m:t></m:r></m:e></m:rad></m:den></m:f></m:oMath>" + run(" here."),
            "It is (a+b)/(√(c)) here.",
        ),
        (
            f"<m:oMathPara {MATH}><m:oMath><m:d><m:dPr><m:begChr m:val='['/><m:endChr m:val=']'/>"
            "</m:dPr><m:e><m:sSubSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sub><m:r><m:t>i</m:t>"
            "</m:r></m:sub><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSubSup></m:e></m:d></m:oMath>"
            "</m:oMathPara>",
            "[x_i^2]",
        ),
    ],
)
def test_a_paragraph_of_a_docx_reads_as_word_shows_it(
    tmp_path: Path, inside: str, text: str
) -> None:
    [found] = read(write_body(tmp_path / "a.docx", f"<~p>{inside}</~p>"))
    assert found.text == text


def repacked(path: Path, change: Callable[[str, bytes], bytes], **options: Any) -> Path:
    """Write a Word file anew with parts changed, left out (if empty) or stored otherwise."""
    with zipfile.ZipFile(write_docx(path.with_name("whole.docx"))) as whole:
        with zipfile.ZipFile(path, "w", **options) as entries:
            for name in whole.namelist():
                if content := change(name, whole.read(name)):
                    entries.writestr(name, content)
    return path


def test_a_docx_without_properties_is_titled_by_its_heading(tmp_path: Path) -> None:
    def bare(name: str, content: bytes) -> bytes:
        if name.startswith("docProps/"):
            return b""
        return re.sub(rb"<Relationship [^>]*docProps[^>]*/>", b"", content)

    assert read(repacked(tmp_path / "b.docx", bare))[0].title == "First heading"


def test_a_docx_that_unpacks_to_fill_the_memory_is_refused_before_that(tmp_path: Path) -> None:
    bomb = repacked(tmp_path / "bomb.docx", lambda _, content: content)
    with zipfile.ZipFile(bomb, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as entries:
        with entries.open("word/media/image.png", "w") as picture:
            for _ in range(150):
                picture.write(bytes(1024 * 1024))
    with pytest.raises(DocumentError, match=r"bomb.docx has \d+ bytes and would unpack to 158"):
        read(bomb)


def test_damage_that_the_libraries_report_oddly_is_named_too(tmp_path: Path) -> None:
    old = write_pdf(tmp_path / "old.pdf")
    old.write_bytes(old.read_bytes().replace(b"/Filter /FlateDecode", b"/Filter /Fl         "))
    content = repacked(tmp_path / "stored.docx", lambda _, content: content).read_bytes()
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
    real = next(DATA.glob(f"*{suffix}"), None)
    whole = real.read_bytes() if real else b'{"text": "line"}\n<title>T</title># heading'
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
