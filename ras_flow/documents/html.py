"""HTML by Beautiful Soup: what a page shows, as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

from ras_flow.documents.shared import RAISED, as_powers, given_title, make_document
from ras_flow.documents.source import SourceDocument
from ras_flow.errors import DocumentError
from ras_flow.support.extras import require

_HIDDEN = frozenset(
    "title script style template noscript datalist rt rp audio video canvas iframe".split()
)
"""Tags whose text a page does not show: scripts, fallbacks for old browsers, readings (rt, rp). The
head is not among them: lxml takes "<main>" for part of it in a page without a body tag."""
_UNSEEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.IGNORECASE)
"""The style of a hidden element."""
_BLOCKS = (
    "address article aside blockquote caption dd details dialog div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tr "
    "ul"
).split()
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
_BEFORE = {"br": "\n", "sup": RAISED} | dict.fromkeys(_BLOCKS, "\n\n")
_AFTER = dict.fromkeys("td th option button textarea".split(), " ") | dict.fromkeys(_BLOCKS, "\n\n")
"""What the beginning and the end of a tag add to the text."""
_DECLARATION = re.compile(r"\A\s*<\?xml\b[^>]*>")
"""XHTML has one, of which Beautiful Soup warns."""
_BETWEEN = " [-–—|·•»:/]+ "
"""Stands between a page's title and its site's name."""
_WIKI = re.compile("MediaWiki")


def read_html(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read what an HTML file shows; its title is its title or first heading."""
    bs4 = require("bs4", extra="documents")
    require("lxml", extra="documents")
    markup = _DECLARATION.sub("", _decode(path.read_bytes(), source))
    # As a file: Beautiful Soup may warn that a text looks like the name of one.
    soup = bs4.BeautifulSoup(StringIO(markup), "lxml")
    heading = _shown(soup.h1)
    title = _title(soup, heading)
    below = "".join(_visible(soup, soup.h1)) if heading and title in ("", heading) else ""
    text = as_powers("".join(_visible(soup)))
    yield make_document(source, given_title(title) or heading, text, as_powers(below))


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
    return " ".join(as_powers("".join(_visible(tag))).split()) if tag else ""


def _decode(content: bytes, source: str) -> str:
    """Decode by byte order mark, else by what the file declares, else as UTF-8."""
    detector = require("bs4.dammit", extra="documents").EncodingDetector
    content, marked = detector.strip_byte_order_mark(content)
    declared = marked or detector.find_declared_encoding(content, is_html=True) or "utf-8"
    try:
        return str(content.decode(marked or _AS_BROWSERS.get(declared, declared)))
    except (LookupError, ValueError) as error:
        raise DocumentError(f"{source} is not {declared}: convert it to UTF-8.") from error


def _visible(soup: Any, without: Any = None) -> Iterator[str]:
    """Yield a page's texts, but that of one tag, and the breaks between them.

    In one pass: changing the tree instead takes time in the square of its depth.
    """
    bs4 = require("bs4", extra="documents")
    above = [(soup, False)]
    for node in soup.descendants:
        while above[-1][0] is not node.parent:
            tag, _ = above.pop()
            yield _AFTER.get(tag.name, "")
        hidden = above[-1][1]
        if isinstance(node, bs4.Tag):
            above.append((node, hidden or node is without or _is_hidden(node)))
            yield _BEFORE.get(node.name, "")
        elif not hidden and type(node) in (bs4.NavigableString, bs4.CData):
            yield str(node)


def _is_hidden(tag: Any) -> bool:
    """Tell whether no reader sees an element.

    Some elements are marked as hidden and yet seen: a whole page, which its scripts then show, and
    the text of a formula, shown as a picture.
    """
    if tag.name in _HIDDEN:
        return True
    unseen = tag.get("hidden", "until-found").lower() != "until-found"
    if not (unseen or _UNSEEN.search(tag.get("style", ""))):
        return False
    return tag.name not in ("html", "body") and not tag.find("math", recursive=False)
