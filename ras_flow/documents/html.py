"""HTML by Beautiful Soup: what a page shows, as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

from ras_flow.documents.html_blocks import PageBlocks
from ras_flow.documents.shared import block_document, given_title
from ras_flow.documents.source import SourceDocument
from ras_flow.errors import DocumentError
from ras_flow.formats.headings import LONGEST

_HIDDEN = frozenset(
    "title script style template noscript datalist rt rp audio video canvas iframe".split()
)
"""Tags whose text a page does not show: scripts, fallbacks for old browsers, readings (rt, rp). The
head is not among them: lxml takes "<main>" for part of it in a page without a body tag."""
_UNSEEN = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden"
    r"|text-decoration(?:-line)?\s*:[^;]*line-through)\b",
    re.IGNORECASE,
)
"""The style of a hidden or struck element."""
_ASIDE = frozenset("nav footer aside del s strike".split())
"""Tags of what is not, or no longer, part of the page's text."""
_ROLES = frozenset(["navigation", "contentinfo", "complementary", "doc-noteref"])
_CLASSES = frozenset(["headerlink", "mw-editsection"])
"""Classes of links within headings, as Sphinx, MkDocs and MediaWiki write them."""
_TO_ITSELF = frozenset("§¶#🔗")
"""What a heading's link to itself shows."""
_AS_BROWSERS = {
    "iso-8859-1": "windows-1252",
    "latin-1": "windows-1252",
    "ascii": "windows-1252",
    "us-ascii": "windows-1252",
    "iso-8859-9": "windows-1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "x-sjis": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "big5": "big5hkscs",
    "utf-16": "utf-8",
    "utf-16le": "utf-8",
    "utf-16be": "utf-8",
}
"""What browsers read under these names: the larger sets of characters that pages use. A page whose
declaration can be read without a byte order mark is not in UTF-16, whatever it declares."""
_DECLARATION = re.compile(r"\A\s*<\?xml\b[^>]*>")
"""XHTML has one, of which Beautiful Soup warns."""
_BETWEEN = " [-–—|·•»:/]+ "
"""Stands between a page's title and its site's name."""
_WIKI = re.compile("MediaWiki")


def read_html(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read what an HTML file shows; its title is its title or first heading."""
    yield html_document(decode_html(path.read_bytes(), source), source)


def html_document(markup: str, source: str, title: str = "") -> SourceDocument:
    """Read what HTML shows."""
    import bs4  # noqa: PLC0415

    # As a file: Beautiful Soup may warn that a text looks like the name of one.
    soup = bs4.BeautifulSoup(StringIO(_DECLARATION.sub("", markup)), "lxml")
    heading = _shown(soup.h1)
    title = (
        title or given_title(_title(soup, heading)) or (heading if len(heading) <= LONGEST else "")
    )
    blocks = PageBlocks()
    _read(soup, blocks)
    return block_document(source, title, blocks.made)


def _title(soup: Any, heading: str) -> str:
    """Return a page's title without its site's name; a wiki's page is called by its heading."""
    titles = (tag for tag in soup.find_all("title") if not tag.find_parent("svg"))
    title = _shown(next(titles, None))
    if heading and soup.find("meta", {"name": "generator", "content": _WIKI}):
        return heading
    meta = soup.find("meta", {"property": "og:site_name"})
    site = re.escape(" ".join(meta.get("content", "").split())) if meta else ""
    return re.sub(f"^{site}{_BETWEEN}|{_BETWEEN}{site}$", "", title) if site else title


def _shown(tag: Any) -> str:
    """Return what a title or heading shows, on one line."""
    if not tag:
        return ""
    blocks = PageBlocks()
    _read(tag, blocks)
    return " ".join(" ".join(block.text for block in blocks.made).split())


def decode_html(content: bytes, source: str) -> str:
    """Decode by byte order mark, else by what the file declares, else as UTF-8."""
    from bs4.dammit import EncodingDetector  # noqa: PLC0415

    content, marked = EncodingDetector.strip_byte_order_mark(content)
    declared = marked or EncodingDetector.find_declared_encoding(content, is_html=True) or "utf-8"
    try:
        return str(content.decode(marked or _AS_BROWSERS.get(declared, declared)))
    except (LookupError, ValueError) as error:
        raise DocumentError(f"{source} is not {declared}: convert it to UTF-8.") from error


def _read(soup: Any, blocks: PageBlocks) -> None:
    """Pass on what a page shows, in order.

    In one pass: to remove what is hidden from the tree takes time in the square of its depth.
    """
    from bs4 import element  # noqa: PLC0415

    around = _around_main(soup)
    above: list[tuple[Any, bool]] = [(soup, False)]

    def leave() -> None:
        tag, hidden = above.pop()
        if not hidden:
            blocks.end(tag)

    for node in soup.descendants:
        while above[-1][0] is not node.parent:
            leave()
        hidden = above[-1][1]
        if isinstance(node, element.Tag):
            hidden = hidden or id(node) in around or _is_hidden(node)
            above.append((node, hidden))
            if not hidden:
                blocks.begin(node)
        elif not hidden and type(node) in (element.NavigableString, element.CData):
            blocks.add(str(node))
    while len(above) > 1:
        leave()
    blocks.finish()


def _around_main(soup: Any) -> set[int]:
    """Return the elements around a page's main one, such as menus and help, without its headers.

    Where they say more than the main one, it is not all that the page is about.
    """
    mains = soup.find_all("main", limit=2)
    if len(mains) != 1 or mains[0].find_parent("head"):
        return set()
    path = [mains[0], *mains[0].parents]
    around = [
        one
        for inner, outer in pairwise(path)
        for one in outer.find_all(True, recursive=False)
        if one is not inner and one.name not in ("head", "header") and not one.find("header")
    ]
    said = sum(len(one.get_text().split()) for one in around if not _is_hidden(one))
    return set(map(id, around)) if said <= len(mains[0].get_text().split()) else set()


def _is_hidden(tag: Any) -> bool:
    """Tell whether no reader sees an element.

    Some elements are marked as hidden and yet seen: a whole page, which its scripts then show, and
    the text of a formula, shown as a picture.
    """
    if (
        tag.name in _HIDDEN
        or (tag.get("href", "").startswith("#") and (tag.string or "").strip() in _TO_ITSELF)
        or tag.get("role") in _ROLES
        or _CLASSES.intersection(tag.get("class", ()))
    ):
        return True
    if tag.name in _ASIDE and tag.get("role") != "doc-footnote":
        return (tag.parent.name, tag.name) != ("blockquote", "footer")
    unseen = tag.get("hidden", "until-found").lower() != "until-found"
    if not (unseen or _UNSEEN.search(tag.get("style", ""))):
        return False
    return tag.name not in ("html", "body") and tag.find("math", recursive=False) is None
