"""EPUB files: their chapters in reading order, by the reader of HTML."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from zipfile import ZipFile

from ras_flow.documents.blocks import Block
from ras_flow.documents.html import decode_html, html_document
from ras_flow.documents.shared import archive, block_document
from ras_flow.documents.source import SourceDocument
from ras_flow.errors import DocumentError

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"


def read_epub(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read a book; a passage leads to its heading, or to its chapter's file."""
    from lxml import etree  # noqa: PLC0415

    with archive(path, source, etree.Error) as file, ZipFile(file) as book:
        package = _xml(book, _xml(book, _CONTAINER).find(".//{*}rootfile").get("full-path"))
        title = " ".join("".join(package.find(".//{*}title").itertext()).split())
        chapters = list(_chapters(book, package, source))
        blocks = [block for name in chapters for block in _blocks(book, name)]
    yield block_document(source, title, blocks)


def _xml(book: ZipFile, name: str) -> Any:
    from lxml import etree  # noqa: PLC0415

    parser = etree.XMLParser(resolve_entities=False, no_network=True)
    root = etree.fromstring(book.read(name), parser)
    root.set("path", name)
    return root


def _chapters(book: ZipFile, package: Any, source: str) -> Iterator[str]:
    """Yield the names of the files that are read one after another."""
    folder = posixpath.dirname(package.get("path"))
    names = {
        item.get("id"): posixpath.normpath(posixpath.join(folder, unquote(item.get("href", ""))))
        for item in package.iterfind(".//{*}manifest/{*}item")
    }
    locked: set[str] = set()
    if _ENCRYPTION in book.namelist():
        found = _xml(book, _ENCRYPTION).iterfind(".//{*}CipherReference")
        locked = {unquote(one.get("URI", "")) for one in found}
    for item in package.iterfind(".//{*}spine/{*}itemref"):
        name = names.get(item.get("idref"))
        if name in locked:
            raise DocumentError(f"{source} is encrypted: only the shop's own programs can read it.")
        if name and item.get("linear") != "no":
            yield name


def _blocks(book: ZipFile, name: str) -> Iterator[Block]:
    try:
        chapter = html_document(decode_html(book.read(name), name), name)
    except DocumentError:  # It may have pictures alone, as covers do.
        return
    place = posixpath.basename(name)
    for block in chapter.blocks:
        place = "" if block.anchor else place  # What follows is below that heading.
        yield replace(block, anchor=block.anchor or place)
