"""Markdown by markdown-it, read as the page that it makes."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ras_flow.documents.html import html_document
from ras_flow.documents.plain import decode
from ras_flow.documents.source import SourceDocument

if TYPE_CHECKING:
    from markdown_it.token import Token

_PICTURE = re.compile(r"data:[\w.+;=/-]+;base64,[A-Za-z0-9+/=_-]*")
"""A file as letters: its hundreds of passages would be embedded, found and extracted."""
_COMMENT = re.compile(r"^%%(?!%).*?%%[ \t]*$", re.DOTALL | re.MULTILINE)
"""A comment as Obsidian writes it; those of HTML are left out with it."""
_FOOTNOTE = re.compile(r"^( {0,3})(?=\[\^[^\]\n]+\]:)", re.MULTILINE)
"""The beginning of a footnote, which CommonMark would take for the address of a link."""
_FRONT_MATTER = re.compile(
    r"(---|\+\+\+)[ \t]*\r?\n(.*?)^(?:\1|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_WIKI_LINK = re.compile(r"(!?)\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
"""A link, or a picture, as Obsidian and wikis write it."""
_OWN_ID = re.compile(r"\s*\{#([\w.:-]+)[^{}]*\}\s*$")


def read_markdown(path: Path, source: str) -> Iterator[SourceDocument]:
    """Read a Markdown file; the title is its front matter's, or else its first heading."""
    from markdown_it import MarkdownIt  # noqa: PLC0415

    title, text = _split_front_matter(_PICTURE.sub("", decode(path.read_bytes(), source)))
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    text = _FOOTNOTE.sub(r"\1\\", _COMMENT.sub("", text))
    tokens = parser.parse(text)
    _complete(tokens)
    yield html_document(parser.renderer.render(tokens, parser.options, {}), source, title)


def _complete(tokens: list[Token]) -> None:
    """Give headings the ids that GitHub gives them, or those of their own: "## Radium {#ra}".

    Links of wikis become what they show.
    """
    used: Counter[str] = Counter()
    for token, inline in zip(tokens, tokens[1:], strict=False):
        for child in inline.children or ():
            if child.type == "text":
                child.content = _WIKI_LINK.sub(_shown, child.content)
        if token.type != "heading_open" or not inline.children:
            continue
        last = inline.children[-1]
        if own := _OWN_ID.search(last.content):
            last.content = last.content[: own.start()]
            token.attrSet("id", own[1])
            continue
        shown = "".join(child.content for child in inline.children)
        name = re.sub(r"[^\w\- ]", "", shown.strip().lower()).replace(" ", "-")
        token.attrSet("id", f"{name}-{used[name]}" if used[name] else name)
        used[name] += 1


def _shown(link: re.Match[str]) -> str:
    return "" if link[1] else link[2]


def _split_front_matter(text: str) -> tuple[str, str]:
    """Return the title in a text's YAML or TOML front matter, and the text after it.

    What is neither stays.
    """
    block = _FRONT_MATTER.match(text)
    if not block:
        return "", text
    import yaml  # noqa: PLC0415

    fields: Any
    try:
        if block[1] == "+++":
            fields = tomllib.loads(block[2].replace("\r\n", "\n"))
        else:
            fields = yaml.load(block[2], Loader=yaml.BaseLoader)  # All scalars are strings.
    # ValueError and OverflowError are of escapes that stand for no character, and of TOML.
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return "", text
    if not isinstance(fields, dict):
        return "", text
    title = fields.get("title")
    return title if isinstance(title, str) else "", text[block.end() :]
