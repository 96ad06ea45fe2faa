"""One reader a file type: title and text of a file's documents."""

from __future__ import annotations

import json
import logging
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import SEEK_END
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import BadZipFile, ZipFile
from zlib import error as ZlibError

from ras_flow.documents.html import read_page
from ras_flow.documents.raised import RAISED, as_powers
from ras_flow.documents.source import SourceDocument
from ras_flow.documents.split import MAX_TITLE
from ras_flow.errors import DocumentError
from ras_flow.formats.text import has_word
from ras_flow.support.extras import require

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_COMPATIBLE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_GONE = (f"{_WORD}del", f"{_WORD}moveFrom", f"{_COMPATIBLE}Fallback")
"""Elements of a Word file whose text was deleted or is there a second time."""
_AROUND = (
    *map(_WORD.__add__, "ins moveTo sdt sdtContent fldSimple smartTag customXml".split()),
    *map(_COMPATIBLE.__add__, ("AlternateContent", "Choice")),
)
"""Elements around paragraphs, rows and runs, which python-docx does not look into."""
_NOTES = ("/footnotes", "/endnotes")
"""How the relations end that lead to the parts of a Word file with its notes."""
_UNPACKED_FREELY, _UNPACKED_FOLD = 128 * 1024 * 1024, 20
"""A Word file may unpack to so many bytes, or to so many times its size: one that was made to fill
the memory of who reads it is small."""
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*)")
_TOP_HEADING = re.compile(r"\s*+(?:#{1,6}[ \t].*|.+\n=+[ \t]*)(?:\r?\n|\Z)")
_LINK = re.compile(r"(!?)\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)")
_PICTURE = re.compile(r"data:[\w.+;=/-]+;base64,[A-Za-z0-9+/=_-]*")
"""A file as letters: its hundreds of passages would be embedded, found and extracted."""
_PLACEHOLDER = re.compile(
    r"\W*(?:untitled(?:\W*(?:document|\d+))?|(?:word )?document\d*|(?:powerpoint )?presentation\d*"
    r"|(?:slide|layout) \d+)\W*"
    r"|microsoft (?:word|powerpoint|excel) - .*"
    r"|\S.*\.(?:docx?|dvi|indd|odt|pdf|pptx?|ps|qxd|rtf|tex|xlsx?)",
    re.IGNORECASE,
)
"""What programs write where nobody gave a title; as a title it would make many files' "it" one."""
_CUT_WORD = re.compile(r"(?<!\w)(\w++)(?:-| ?[\xad‐])[ \t]*\n[ \t]*(\w++)")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_FRONT_MATTER = re.compile(
    r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)


def read_text(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read a plain text file; the title is the file's name."""
    yield _document(source, "", _decode(path.read_bytes(), source))


def read_markdown(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read a Markdown file without pictures in its text and YAML front matter before it.

    The title is the front matter's, or else the first heading.
    """
    title, text = _split_front_matter(_PICTURE.sub("", _decode(path.read_bytes(), source)))
    title = title or _first_heading(text)
    top = _TOP_HEADING.match(text)
    below = text[top.end() :] if top and title and _first_heading(top[0]) == title else ""
    yield _document(source, title, text, below)


def read_html(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read what an HTML file shows; its title is its title or first heading."""
    page = read_page(path.read_bytes(), source)
    yield _document(source, _given(page.title) or page.heading, page.text, page.below)


def read_pdf(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read a PDF file's text layer, whose words lines may part; its title is its metadata's."""
    pypdf = require("pypdf", extra="documents")
    # Without a handler of the program's, what it warns of would go to standard error.
    logging.getLogger("pypdf").addHandler(_NO_LOG)
    try:
        reader = pypdf.PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise DocumentError(f"{source} is encrypted: save a copy without a password.")
        title = reader.metadata.title if reader.metadata else None
        pages = [(page, page.extract_text()) for page in reader.pages]
        pictures = [
            number
            for number, (page, text) in enumerate(pages, start=1)
            if not has_word(text) and _has_picture(page)
        ]
    except DocumentError:
        raise
    except pypdf.errors.DependencyError as error:
        raise DocumentError(
            f"{source} is encrypted with AES, which pypdf reads only with the package "
            "'cryptography': install it, or save a copy without encryption."
        ) from error
    except (pypdf.errors.PyPdfError, pypdf.errors.DeprecationError, *_DAMAGE) as error:
        raise DocumentError(_unreadable(source, "PDF", error)) from error
    text = "\n\n".join(text for _, text in pages)
    # A font that does not tell which letters it draws gives NULs.
    if not has_word(text):
        raise DocumentError(f"{source} has no text layer: run text recognition (OCR) on it first.")
    gap = (
        f"what the pictures show on pages of {source} without text: {_ranges(pictures)} of "
        f"{len(pages)}. If they are scans, run text recognition (OCR) on it first."
    )
    document = _document(source, _given(title if isinstance(title, str) else ""), _rejoined(text))
    yield replace(document, gap=gap) if pictures else document


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
        # python-docx writes a title of its own where there are no properties.
        title = _given(document.core_properties.title)
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
    except (docx.opc.exceptions.OpcError, etree.Error, BadZipFile, RuntimeError, *_DAMAGE) as error:
        raise DocumentError(_unreadable(source, ".docx", error)) from error
    yield _document(source, as_powers(title), as_powers("\n\n".join(blocks)))


def read_jsonl(path: Path, source: str) -> Iterator[SourceDocument | DocumentError]:
    """Read one document a line: an object with ``text`` and, if it has one, ``title``."""
    with path.open("rb") as file:
        for number, content in enumerate(file, start=1):
            try:
                line = _decode(content, "this line")
                if line.strip():
                    yield _json_document(line, f"{source}#{number}")
            except DocumentError as error:
                yield DocumentError(f"{source}, line {number}: {error}")


_NO_LOG = logging.NullHandler()

Reader = Callable[[Path, str], Iterator[SourceDocument | DocumentError]]

READERS: dict[str, Reader] = {
    ".txt": read_text,
    ".md": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".pdf": read_pdf,
    ".docx": read_docx,
    ".jsonl": read_jsonl,
}

# What the PDF and Word libraries raise on damaged files besides their own errors.
_DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    NotImplementedError,
    RecursionError,
    TypeError,
    ValueError,
    ZlibError,
)


def _unreadable(source: str, kind: str, error: Exception) -> str:
    why = " ".join(str(error).split()).rstrip(".")
    return f"{source} is no readable {kind} file ({why}): save or download it again."


def _check_unpacked(file: BinaryIO, source: str) -> None:
    """Refuse an archive that unpacks to far more than it is."""
    with ZipFile(file) as archive:
        unpacked = sum(part.file_size for part in archive.infolist())
    size = file.seek(0, SEEK_END)
    file.seek(0)
    if unpacked > max(_UNPACKED_FREELY, _UNPACKED_FOLD * size):
        raise DocumentError(
            f"{source} has {size} bytes and would unpack to {unpacked}, as files do that are to "
            "fill the memory: leave it out, or save its text as .txt."
        )


def _document(source: str, title: str, text: str, below: str = "") -> SourceDocument:
    """Return a document; where its text begins with its title, without that.

    Passages carry the title; in their text it would run into the first sentence.
    """
    if not text.strip():
        raise DocumentError(f"{source} has no text: leave it out.")
    title = title.strip() or Path(source).stem
    first, _, rest = text.lstrip().partition("\n")
    if not below and first.strip() == title:
        below = rest.lstrip()
    return SourceDocument(
        source, title, below if has_word(below) and len(title) <= MAX_TITLE else text
    )


def _given(title: str) -> str:
    """Return a title that somebody gave; the empty text for what a program wrote for want of it."""
    return "" if _PLACEHOLDER.fullmatch(title) else title


def _has_picture(page: Any) -> bool:
    """Tell a page that shows a picture, as a scan is one, from a blank one."""
    content = page.get_contents()
    # Not by `page.images`: what is among these need not be on the page, and some are decoded.
    return content is not None and any(
        operator in (b"Do", b"INLINE IMAGE") for _, operator in content.operations
    )


def _ranges(pages: list[int]) -> str:
    """Write numbers of pages, those that follow each other as a range."""
    runs = groupby(enumerate(pages), lambda item: item[1] - item[0])
    ends = [(run[0][1], run[-1][1]) for _, group in runs if (run := list(group))]
    return ", ".join(f"{first}-{last}" if first < last else f"{first}" for first, last in ends)


def _rejoined(text: str) -> str:
    """Join the words that lines part. A hyphen stays where it may be the word's own.

    It goes before what is no word elsewhere in the text, or makes a word of it.
    """
    known = set(re.findall(r"\w+", _CUT_WORD.sub(" ", text).casefold()))

    def join(cut: re.Match[str]) -> str:
        first, second = cut.groups()
        rest = second.casefold()
        whole = second[0].islower() and (rest not in known or first.casefold() + rest in known)
        return first + second if whole else f"{first}-{second}"

    return _CUT_WORD.sub(join, text)


def _decode(content: bytes, source: str) -> str:
    # Without a byte order mark UTF-16 can be valid UTF-8, with every second character a NUL.
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) or content.count(0) > len(content) / 4:
        raise DocumentError(f"{source} looks like UTF-16: convert it to UTF-8.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"{source} is not UTF-8 at byte {error.start}: convert it to UTF-8."
        ) from error


def _split_front_matter(text: str) -> tuple[str, str]:
    """Return the title in a text's front matter and the text after it; what is no YAML stays."""
    block = _FRONT_MATTER.match(text)
    if not block:
        return "", text
    import yaml  # noqa: PLC0415

    try:
        fields = yaml.load(block[1], Loader=yaml.BaseLoader)  # All scalars are strings.
    # ValueError and OverflowError are of escapes that stand for no character.
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return "", text
    if not isinstance(fields, dict):
        return "", text
    title = fields.get("title")
    return title if isinstance(title, str) else "", text[block.end() :]


def _first_heading(text: str) -> str:
    """Return the first heading, written with # or underlined, outside of code."""
    code, before = "", ""
    for line in text.splitlines():
        if fence := _FENCE.match(line):
            code = "" if code == fence[1] else code or fence[1]
        elif not code:
            if heading := _HEADING.fullmatch(line):
                return _as_shown(heading[1].rstrip(" \t").rstrip("#").rstrip(" \t"))
            if before.strip() and re.fullmatch(r"=+[ \t]*", line):
                return _as_shown(before)
        before = line
    return ""


def _as_shown(heading: str) -> str:
    """Return a heading with the text of its links, and without pictures."""
    for _ in range(2):  # A picture may be a link's text.
        heading = _LINK.sub(lambda link: "" if link[1] else link[2], heading)
    return heading


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


def _json_document(line: str, source: str) -> SourceDocument:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"no JSON ({error}).") from error
    if not isinstance(record, dict):
        raise DocumentError('write an object such as {"title": "…", "text": "…"}.')
    if "text" not in record:
        raise DocumentError("the field 'text' is missing.")
    title, text = record.get("title") or "", record["text"]
    for name, value in (("title", title), ("text", text)):
        if not isinstance(value, str):
            raise DocumentError(f"the field {name!r} is no string but {type(value).__name__}.")
    if not text.strip():
        raise DocumentError("the field 'text' is empty.")
    return SourceDocument(source, title, text)
