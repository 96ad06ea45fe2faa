from __future__ import annotations

import json
import os
import re
import time
import tracemalloc
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

from ras_flow.documents import ReadReport, SourceDocument, read_documents
from ras_flow.documents.readers import READERS
from ras_flow.errors import DocumentError
from ras_flow.indexes import CorpusIndex


def read(*paths: Path) -> list[SourceDocument]:
    return list(read_documents(paths))


def write_pdf(path: Path, text: str = "Radium glows in the dark.", title: str = "") -> Path:
    pdf = FPDF()
    if title:
        pdf.set_title(title)
    for _ in range(2):
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


def test_plain_text_is_titled_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "Marie Curie.txt"
    path.write_bytes("\ufeffShe studied radioactivity.\n".encode())
    assert read(path) == [SourceDocument(str(path), "Marie Curie", "She studied radioactivity.\n")]


@pytest.mark.parametrize(
    "text, title",
    [
        ("intro\n\n## The *real* title ##\n\ntext", "The *real* title"),
        ("```\n# a comment\n```\n\n# Title\n", "Title"),
        ("a\n\nUnderlined\n=====\n\ntext", "Underlined"),
        ("#\t Title # of C# \t## \t", "Title # of C#"),
        ("# \t#\n# Title", "note"),
        ("#hashtag is no heading", "note"),
        ("# ![logo](a.png) [Radium](https://x.org/Radium_(element)) [1]", "Radium [1]"),
        ("# [![build](a.svg)](https://x.org) Radium\n", "Radium"),
        ("[Radium](x.md)\n====", "Radium"),
        ("# ![logo](a.png)\n", "note"),
    ],
)
def test_markdown_is_titled_by_its_first_heading(tmp_path: Path, text: str, title: str) -> None:
    path = tmp_path / "note.md"
    path.write_text(text)
    assert [(d.title, d.text) for d in read(path)] == [(title, text)]


LONG = "Radium " * 50


@pytest.mark.parametrize(
    ("text", "below"),
    [
        ("\n# Radium #\nIt glows.\n# Radium", "It glows.\n# Radium"),
        ("# Radium\r\n\r\nIt glows.", "\r\nIt glows."),
        ("Radium\n===\nIt glows.", "It glows."),
        ("Radium\r\n===\r\nIt glows.", "It glows."),
        ("---\ntitle: Radium\n---\n# Radium\nIt glows.", "It glows."),
        ("---\ntitle: Radium\n---\n# Uses\nIt glows.", "# Uses\nIt glows."),
        ("![logo](a.png)\n# Radium\nIt glows.", "![logo](a.png)\n# Radium\nIt glows."),
        ("# Radium\n\n---", "# Radium\n\n---"),
        (f"# {LONG}\nIt glows.", f"# {LONG}\nIt glows."),
        ("# \nIt glows.", "# \nIt glows."),
    ],
)
def test_the_title_that_a_text_begins_with_is_no_part_of_it(
    tmp_path: Path, text: str, below: str
) -> None:
    path = tmp_path / "note.md"
    path.write_text(text, newline="")
    assert read(path)[0].text == below


def test_a_first_line_that_is_the_title_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "Radium.txt").write_text("\n Radium \r\nIt glows.\n", newline="")
    assert read(tmp_path / "Radium.txt")[0].text == "It glows.\n"
    pdf = write_pdf(tmp_path / "paper.pdf", "Radium\nIt glows.", title="Radium")
    assert read(pdf)[0].text == "It glows.\n\nRadium\nIt glows."
    (tmp_path / "Radium.txt").write_text("Radium\n")
    assert read(tmp_path / "Radium.txt")[0].text == "Radium\n"


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("<title>Radium</title><nav>Home</nav><h1>Ra<i>dium</i></h1>It glows.", "Home It glows."),
        ("<h1>Radium</h1>It glows.<h1>Radium</h1>", "It glows. Radium"),
        ("<title>On radium</title><h1>Radium</h1>It glows.", "Radium It glows."),
        ("<title>Radium</title><h1>Radium</h1>", "Radium"),
        (f"<h1>{LONG}</h1>It glows.", f"{LONG}It glows."),
    ],
)
def test_the_heading_of_a_page_that_is_its_title_is_no_text(
    tmp_path: Path, page: str, words: str
) -> None:
    path = tmp_path / "page.html"
    path.write_text(page)
    assert " ".join(read(path)[0].text.split()) == words


@pytest.mark.parametrize(
    "front, title",
    [
        ("---\ntitle: 1984\n# a comment\n---\n", "1984"),
        ("---\r\n# a comment\r\ntags: [a]\r\n---\r\n", "Heading"),
        ('---\ntitle: "On: \\"time\\""\n...\n', 'On: "time"'),
        ("---\ntitle: [no, text]\n--- \n", "Heading"),
    ],
)
def test_front_matter_gives_a_title_and_is_no_text(tmp_path: Path, front: str, title: str) -> None:
    path = tmp_path / "note.md"
    path.write_text(f"{front}# Heading\n\nText.\n---\nMore.", newline="")
    [document] = read(path)
    text = "# Heading\n" * (title != "Heading") + "\nText.\n---\nMore."
    assert (document.title, document.text) == (title, text)


@pytest.mark.parametrize(
    "front",
    ["---\nJust a break.\n---\n", '---\ntitle: "open\n---\n', "---\ntitle: never closed\n"]
    + ['---\ntitle: "\\UFFFFFFFF"\n---\n', f"---\na: {'[' * 9999}\n---\n", "\n---\na: b\n---\n"],
)
def test_what_is_no_front_matter_is_text(tmp_path: Path, front: str) -> None:
    path = tmp_path / "note.md"
    path.write_text(f"{front}# Heading\n")
    [document] = read(path)
    assert (document.title, document.text) == ("Heading", f"{front}# Heading\n")


def test_pictures_in_markdown_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    picture = "data:image/png;base64," + "iVBORw0KGgo+/" * 1000 + "=="
    path.write_text(f"# Title\n\n![A cat]({picture}) Text.\n\n[image1]: <{picture}>")
    assert read(path)[0].text == "\n![A cat]() Text.\n\n[image1]: <>"


def test_a_heading_with_many_spaces_takes_no_time(tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    path.write_text(f"{' ' * 200_000}\n#{' ' * 200_000}a{' #' * 100_000}b")
    start = time.process_time()
    [document] = read(path)
    assert time.process_time() - start < 10, "quadratic time would take minutes"
    assert document.title.startswith("a # #") and document.title.endswith("#b")


def test_html_gives_its_title_and_text_without_scripts(tmp_path: Path) -> None:
    path = tmp_path / "page.HTML"
    path.write_text(
        "<html><head><title>The\n page</title><style>p {color: red}</style></head><body>"
        "<h1>Heading</h1><script>alert('x')</script><p>One <b>bold</b>. Two</p><p>Three<br>four"
        "<table><tr><td>a</td><td>b</td></tr></table>&lt;tag&gt; &amp; é</body></html>",
        encoding="utf-8",
    )
    [document] = read(path)
    assert document.title == "The page"
    paragraphs = [" ".join(p.split()) for p in document.text.split("\n\n") if p.strip()]
    assert paragraphs == ["Heading", "One bold. Two", "Three four", "a b", "<tag> & é"]


def test_html_shows_what_a_reader_sees(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<title>T</title><body onload='run()'>One<!-- a note --><script>bad()</script> two."
        "<noscript><p>turn it on</p><style>p {}</style></noscript><template>later</template>"
        "<div>Three<div>four</div>five</div>six<svg><script>worse()</script></svg>"
    )
    [document] = read(path)
    parts = [" ".join(p.split()) for p in document.text.split("\n\n") if p.strip()]
    assert parts == ["One two.", "Three", "four", "five", "six"]


@pytest.mark.parametrize("tag", ["main", "article", "nav", "header", "section", "p", "my-page"])
def test_html_without_a_body_tag_is_read(tmp_path: Path, tag: str) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<!doctype html><meta charset=utf-8><title>T</title><style>p {}</style>"
        f"<{tag}>One<p>two</p></{tag}><p>three"
    )
    [document] = read(path)
    assert (document.title, document.text.split()) == ("T", ["One", "two", "three"])


def test_html_parts_words_where_a_reader_sees_them_apart(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<h1>Alvar<br>Aalto</h1><select><option>Aa<option>Bb</select><textarea>cc</textarea>"
        "<button>Dd</button><button>Ee</button><video>old browser</video><dialog>Ff</dialog>"
        "gg<svg><title>an icon</title></svg>"
    )
    [document] = read(path)
    assert document.title == "Alvar Aalto"
    assert document.text.split() == "Aa Bb cc Dd Ee Ff gg".split()


_WIKI = "<meta name=generator content='MediaWiki 1.45.0'>"


@pytest.mark.parametrize(
    ("head", "title"),
    [
        (f"{_WIKI}<title>Alvar Aalto – Wikipedia</title>", "Alvar Aalto (architect)"),
        ("<title>Alvar Aalto – Wikipedia</title>", "Alvar Aalto – Wikipedia"),
        ("{}<title>Aalto: a life | Art  News</title>", "Aalto: a life"),
        ("{}<title>Art News - Aalto - a life</title>", "Aalto - a life"),
        ("{}<title>Aalto in Art News</title>", "Aalto in Art News"),
        ("{}<title>Art News</title>", "Art News"),
        ("{}", "Alvar Aalto (architect)"),
        ("<meta property=og:site_name><title>Aalto - a life</title>", "Aalto - a life"),
        ("<svg><title>icon</title></svg><title>Aalto</title>", "Aalto"),
    ],
)
def test_a_pages_title_is_read_without_its_sites_name(
    tmp_path: Path, head: str, title: str
) -> None:
    path = tmp_path / "page.html"
    site = "<meta property='og:site_name' content='Art News '>"
    heading = "<h1><i>Alvar Aalto</i> (architect)</h1>"
    path.write_text(f"<head>{head.format(site)}</head><body>{heading}", encoding="utf-8")
    assert read(path)[0].title == title


@pytest.mark.parametrize(
    ("element", "seen"),
    [
        ("<p hidden>{}</p>", False),
        ("<div hidden=''><p>a<span>{}</span></p></div>", False),
        ("<p hidden=until-found>{}</p>", True),
        ("<p style='display:none'>{}</p>", False),
        ("<p style='color: red; DISPLAY : None !important'>{}</p>", False),
        ("<p style='visibility: hidden;'>{}</p>", False),
        ("<p style='display:block; --display: none; display-x:none'>{}</p>", True),
        ("<p aria-hidden=true>{}</p>", True),
        ("<details>{}</details>", True),
        ("<button role=tab aria-controls='p1 p2'>b</button><p id=p2 hidden>{}</p>", True),
        ("<span style='display: none'><math><mi>{}</mi></math></span>", True),
        ("<span hidden><b hidden><math><mi>{}</mi></math></b></span>", False),
    ],
)
def test_html_that_no_reader_sees_is_no_text(tmp_path: Path, element: str, seen: bool) -> None:
    path = tmp_path / "page.html"
    path.write_text(f"<title>T</title><p>Before.</p>\n{element.format('it')}<p>After.")
    words = read(path)[0].text.split()
    assert words[0] == "Before." and words[-1] == "After." and ("it" in words) == seen


@pytest.mark.parametrize("name", ["html", "body"])
def test_a_page_that_hides_itself_until_its_scripts_run_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "page.html"
    path.write_text(f"<{name} style='display:none'><p>Text.</p></{name}>")
    assert read(path)[0].text.strip() == "Text."


def test_how_characters_are_read_does_not_part_a_word(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        "<meta charset=utf-8><p><ruby>漱<rp>（</rp><rt>そう</rt><rp>）</rp>石<rt>せき</rt></ruby>は"
        "東京で生まれた。",
        encoding="utf-8",
    )
    assert read(path)[0].text.strip() == "漱石は東京で生まれた。"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "page",
    [
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>\n'
        '<html xmlns="http://www.w3.org/1999/xhtml"><body>notes.txt</body></html>',
        "notes.txt",
    ],
)
def test_html_that_looks_like_something_else_is_read_without_a_warning(
    tmp_path: Path, page: str
) -> None:
    path = tmp_path / "page.html"
    path.write_text(page)
    assert read(path)[0].text.strip() == "notes.txt"


@pytest.mark.parametrize("tag", ["div", "b", "td", "noscript", "table", "div hidden"])
def test_deeply_nested_html_takes_no_time(tmp_path: Path, tag: str) -> None:
    path = tmp_path / "deep.html"
    end = f"</{tag.split()[0]}>"
    path.write_text(f"<p>top</p>{f'<{tag}>' * 20_000}x{end * 20_000}<p>bottom</p>")
    start = time.process_time()
    [document] = read(path)
    assert time.process_time() - start < 10
    assert "top" in document.text and "bottom" in document.text


def test_html_without_title_uses_the_first_heading_and_honours_its_charset(tmp_path: Path) -> None:
    path = tmp_path / "page.htm"
    path.write_bytes('<meta charset="iso-8859-1"><h1>Caf\xe9</h1><p>th\xe9'.encode("latin-1"))
    [document] = read(path)
    assert (document.title, "thé" in document.text) == ("Café", True)


@pytest.mark.parametrize(
    "charset, written, text",
    [
        ("UTF-16", "utf-8", "Łódź"),
        ("UTF-16", "utf-16", "Łódź"),
        ("gb2312", "gbk", "朱镕基"),
        ("Shift_JIS", "cp932", "①髙島屋"),
        ("euc-kr", "cp949", "똠방각하"),
        ("big5", "big5hkscs", "碁"),
    ],
)
def test_html_is_decoded_as_browsers_do(
    tmp_path: Path, charset: str, written: str, text: str
) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(f'<meta charset="{charset}"><title>T</title>{text}'.encode(written))
    assert [document.text.strip() for document in read(path)] == [text]


def test_a_power_is_no_other_number(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("H", 1).add_run("2").font.superscript = True
    paragraph = document.add_paragraph("After 10")
    for text in ("6", "th"):
        paragraph.add_run(text).font.superscript = True
        paragraph.add_run(" years, the 19")
    document.save(str(tmp_path / "a.docx"))
    [read_back] = read(tmp_path / "a.docx")
    text = "After 10^6 years, the 19th years, the 19"
    assert (read_back.title, read_back.text) == ("H2", text)
    path = tmp_path / "page.html"
    path.write_text(
        "<title>T</title>7 × 10<sup>6</sup> years, 10<sup>-3</sup> m, the 19<sup>th</sup>, "
        "in 1990<sup>[2]</sup>"
    )
    assert read(path)[0].text == "7 × 10^6 years, 10^-3 m, the 19th, in 1990[2]"


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
    assert "paper.pdf without text: 2, 4-6, 8 of 8." in gap and "OCR" in gap
    [whole] = read_documents([write_pdf(tmp_path / "whole.pdf")], report=report)
    assert not whole.gap and report.gaps == [gap]


def test_a_hyphen_that_a_browser_prints_apart_from_its_word_is_joined_too(tmp_path: Path) -> None:
    pdf = FPDF()
    pdf.add_page()
    pdf.set_font("helvetica", size=12)
    for place, line in enumerate(["The infra \xad", "structure of a town"]):
        pdf.text(20, 20 + 6 * place, line)
    pdf.output(str(tmp_path / "paper.pdf"))
    assert read(tmp_path / "paper.pdf")[0].text == "The infrastructure of a town"


@pytest.mark.parametrize(
    "title",
    ["untitled", "Untitled Document", "PowerPoint Presentation"]
    + ["Untitled-1", "Document1", "Slide 1", "Microsoft Word - Annual report (2)"]
    + ["C:\\My files\\draft 3.DOC", "main.dvi"],
)
def test_a_title_that_a_program_wrote_is_none(tmp_path: Path, title: str) -> None:
    page = tmp_path / "page.html"
    page.write_text(f"<title>{title}</title><h1>Radium</h1>It glows.")
    files = [
        page,
        write_pdf(tmp_path / "paper.pdf", title=title),
        write_docx(tmp_path / "a.docx", title),
    ]
    assert [one.title for one in read(*files)] == ["Radium", "paper", "First heading"]


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


def test_jsonl_has_a_document_a_line(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"title": "A", "text": "One\\u2028line."}\n\n{"text": "No title", "x": 1}\r\n')
    assert read(path) == [
        SourceDocument(f"{path}#1", "A", "One\u2028line."),
        SourceDocument(f"{path}#3", "", "No title"),
    ]


@pytest.mark.parametrize(
    "line, message",
    [
        ("{", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[1]", "write an object"),
        ('{"title": "a"}', "field 'text' is missing"),
        ('{"text": 3}', "field 'text' is no string but int"),
        ('{"text": null}', "field 'text' is no string but NoneType"),
        ('{"text": "a", "title": ["b"]}', "field 'title' is no string but list"),
        ('{"text": " "}', "field 'text' is empty"),
    ],
)
def test_a_bad_line_is_named_and_can_be_skipped(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(f'{{"text": "good"}}\n{line}\n{{"text": "also good"}}')
    with pytest.raises(DocumentError, match=f"corpus.jsonl, line 2: .*{message}"):
        read(path)
    report = ReadReport()
    found = read_documents([path], on_error="skip", report=report)
    assert [document.text for document in found] == ["good", "also good"]
    assert report.documents == 2 and "line 2" in str(report.errors[0])


def test_lines_are_read_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(f'{{"text": "{"word " * 200}"}}\n' * 2_000)
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_documents([path])) == 2_000
        assert tracemalloc.get_traced_memory()[1] < path.stat().st_size / 4
    finally:
        tracemalloc.stop()


def test_a_line_that_is_not_utf8_is_left_out_alone(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"text": "good"}\n{"text": "caf\xe9"}\n{"text": "also good"}')
    with pytest.raises(DocumentError, match="corpus.jsonl, line 2: .* not UTF-8 at byte 13"):
        read(path)
    report = ReadReport()
    found = read_documents([path], on_error="skip", report=report)
    assert [document.text for document in found] == ["good", "also good"]
    assert len(report.errors) == 1


def test_what_cannot_be_read_is_named_with_what_to_do(tmp_path: Path) -> None:
    def broken(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content)
        return path

    encrypted = tmp_path / "encrypted.pdf"
    writer = pypdf.PdfWriter(write_pdf(tmp_path / "plain.pdf"))
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(encrypted)
    cases = {
        broken("latin.txt", b"caf\xe9"): "not UTF-8 at byte 3: convert",
        broken("latin.md", b"\xff"): "not UTF-8 at byte 0: convert",
        broken("windows.txt", "Ada".encode("utf-16")): "looks like UTF-16: convert",
        broken("unmarked.txt", "Ada".encode("utf-16-be")): "looks like UTF-16: convert",
        broken("wrong.html", b'<meta charset="utf-8">caf\xe9'): "not utf-8: convert",
        broken("none.html", b"caf\xe9"): "not utf-8: convert",
        broken("unknown.html", b'<meta charset="no-such">x'): "not no-such: convert",
        broken("empty.txt", b" \n"): "has no text",
        broken("empty.html", b"<script>1</script>"): "has no text",
        broken("empty.md", b""): "has no text",
        broken("no.pdf", b"no pdf"): "no readable PDF",
        broken("cut.pdf", (tmp_path / "plain.pdf").read_bytes()[:300]): "no readable PDF|no text",
        encrypted: r"encrypted: save a copy without a password\.$",
        write_pdf(tmp_path / "scan.pdf", text=" "): "OCR",
        write_pdf(tmp_path / "font.pdf", text="- . -"): "OCR",
        broken("no.docx", b"no zip"): "no readable .docx",
        broken(
            "cut.docx", write_docx(tmp_path / "whole.docx").read_bytes()[:5000]
        ): "no readable .docx",
        tmp_path / "missing.txt": "no file or folder",
        broken("data.csv", b"a,b"): "unknown type: convert it to one of .txt",
    }
    for path, message in cases.items():
        with pytest.raises(DocumentError, match=message) as caught:
            read(path)
        assert path.name in str(caught.value)


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
        with pytest.raises(DocumentError, match=f"{name} is no readable"):
            read(tmp_path / name)


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


def test_a_pdf_whose_title_is_no_text_is_titled_by_its_file(tmp_path: Path) -> None:
    writer = pypdf.PdfWriter(write_pdf(tmp_path / "plain.pdf"))
    assert writer._info is not None
    words = ArrayObject([TextStringObject("Radium"), TextStringObject("notes")])
    writer._info[NameObject("/Title")] = words
    writer.write(tmp_path / "lab.pdf")
    [document] = read(tmp_path / "lab.pdf")
    assert document.title == "lab"


def test_an_empty_owner_password_does_not_keep_a_pdf_from_being_read(tmp_path: Path) -> None:
    writer = pypdf.PdfWriter(write_pdf(tmp_path / "plain.pdf"))
    writer.encrypt("", "owner", algorithm="RC4-128")
    writer.write(tmp_path / "locked.pdf")
    [document] = read(tmp_path / "locked.pdf")
    assert "Radium" in document.text


def test_a_folder_is_walked_in_order_and_the_rest_is_reported(tmp_path: Path) -> None:
    for name in ["b.txt", "a.txt", "sub/c.txt", ".hidden.txt", ".git/d.txt", "data.csv"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    report = ReadReport()
    found = list(read_documents([tmp_path], report=report))
    assert [document.text for document in found] == ["a.txt", "b.txt", "sub/c.txt"]
    assert [path.name for path in report.ignored] == [".git", ".hidden.txt", "data.csv"]


def test_links_that_loop_or_lead_nowhere_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "up").symlink_to(tmp_path)
    (tmp_path / "self.txt").symlink_to(tmp_path / "self.txt")
    (tmp_path / "dead.txt").symlink_to(tmp_path / "nothing")
    (tmp_path / "long.txt").symlink_to("x" * 300)
    (tmp_path / "linked.txt").symlink_to(tmp_path / "a.txt")
    report = ReadReport()
    found = list(read_documents([tmp_path], report=report))
    assert [Path(document.source).name for document in found] == ["a.txt"]
    assert {path.name for path in report.ignored} == {"up", "self.txt", "dead.txt", "long.txt"}
    with pytest.raises(DocumentError, match="no file or folder"):
        read(tmp_path / "self.txt")


async def test_an_index_among_the_documents_is_no_document(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    await CorpusIndex.build(tmp_path / "index", read(tmp_path), encoder=None)
    assert list(tmp_path.glob("index/gen-*/passages.jsonl"))
    assert [Path(document.source).name for document in read(tmp_path)] == ["a.txt"]
    with pytest.raises(DocumentError, match="index is an index: name it as the index"):
        read(tmp_path / "index")
    (tmp_path / "index" / "manifest.json").unlink()
    assert [Path(document.source).name for document in read(tmp_path)] == ["a.txt"]


def test_a_file_that_is_reached_twice_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path)
    monkeypatch.chdir(tmp_path)
    paths = [tmp_path, tmp_path / "a.txt", tmp_path, Path("a.txt"), Path("link/a.txt")]
    assert [document.source for document in read(*paths)] == [str(tmp_path / "a.txt")]


def test_odd_file_names_work_and_sources_can_be_stored(tmp_path: Path) -> None:
    names = [b"with space & \xc3\xa9.txt", b"new\nline.txt", b"{0}%s.txt", b"not utf8 \xff.txt"]
    for name in names:
        with open(os.path.join(os.fsencode(tmp_path), name), "wb") as file:
            file.write(b"text")
    found = read(tmp_path)
    assert len({json.dumps(d.source).encode() for d in found}) == 4
    assert any(document.title == "not utf8 \\xff" for document in found)


def test_a_folder_without_documents_says_so(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b")
    with pytest.raises(DocumentError, match=r"has no document: put files of these .*jsonl\.$"):
        read(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path.parent)
    with pytest.raises(DocumentError, match="Linked folders are not read, name these"):
        read(tmp_path)


def test_a_file_that_the_system_does_not_give_is_named(tmp_path: Path) -> None:
    """The test may run as root, who may read everything but this."""
    (tmp_path / "a.txt").symlink_to("/proc/self/mem")
    with pytest.raises(DocumentError, match=r"Cannot read .*a\.txt \(.+\): check the file"):
        read(tmp_path)


def _skips_one_beside_b(folder: Path) -> str:
    """Check that all but one document is read, and return what is said of that one."""
    report = ReadReport()
    found = read_documents([folder], on_error="skip", report=report)
    assert [document.text for document in found] == ["fine"]
    assert len(report.errors) == 1
    return str(report.errors[0])


def _enter_a_deep_folder(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Change to a folder in which longer names make a path that the system does not take."""
    monkeypatch.chdir(top)
    while len(os.getcwd()) < 3_900:
        os.mkdir("d" * 150)
        os.chdir("d" * 150)


def test_a_file_that_cannot_be_looked_at_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here since its path is too long, which stops root as well."""
    _enter_a_deep_folder(tmp_path, monkeypatch)
    Path(f"{'a' * 240}.txt").write_text("text")
    (tmp_path / "b.txt").write_text("fine")
    with pytest.raises(DocumentError, match=r"Cannot read .*a\.txt \(File name too long\)"):
        read(tmp_path)
    _skips_one_beside_b(tmp_path)


def test_a_folder_that_cannot_be_looked_into_is_named_or_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here since its path is too long, as above."""
    (tmp_path / "b.txt").write_text("fine")
    _enter_a_deep_folder(tmp_path, monkeypatch)
    os.mkdir("e" * 240)
    with pytest.raises(DocumentError, match=r"Cannot read the folder .*e \(File name too long\)"):
        read(tmp_path)
    _skips_one_beside_b(tmp_path)


def test_skipping_goes_on_after_a_bad_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff")
    (tmp_path / "b.txt").write_text("fine")
    assert "a.txt" in _skips_one_beside_b(tmp_path)


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
