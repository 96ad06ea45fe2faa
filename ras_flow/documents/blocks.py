"""Documents as sequences of blocks: what every reader makes, and the splitter packs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import regex

from ras_flow.formats.tokens import UNSPACED

WRAPPED_AT = 50
"""Characters that a line has at least where a text is wrapped."""

ITEM = re.compile(r"(?:[-*+•‣◦▪–]|\(?(?:\d{1,3}|[A-Za-z])[.)])\s+(?=\S)")
"""How a line begins that is a list's item in plain text."""


_SEAMLESS = regex.compile(rf"{UNSPACED.pattern}|[\u3000-\u303f\uff00-\uff60]")
"""A character of a script without spaces, or of its punctuation."""


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a document, in one passage where it fits.

    Attributes:
        kind: What it is. Headings give the passages below them their titles.
        text: What models read, with its line breaks. An item begins with its marker or number,
            indented by two spaces for each list around its own; a row reads "Column: value; …".
        level: Of a heading: 1 for the highest.
        anchor: The URL fragment that leads to it, without "#": "page=3", or an element's id.
        lead: Lines that a passage needs before the block: a table's caption, the items around a
            nested one. Each is written once in a passage, and repeated in the next.
    """

    kind: Literal["heading", "paragraph", "item", "row", "code"]
    text: str
    level: int = 0
    anchor: str = ""
    lead: tuple[str, ...] = ()


def plain_blocks(text: str) -> Iterator[Block]:
    """Read the blocks of plain text: paragraphs, which blank lines end, and items of lists."""
    lines: list[str] = []
    for line in text.splitlines():
        bare = " ".join(line.split())
        if lines and (not bare or ITEM.match(bare)):
            yield _plain_block(lines)
            lines = []
        if bare:
            lines.append(bare if lines else f"{_indent(line)}{bare}")
    if lines:
        yield _plain_block(lines)


def _indent(line: str) -> str:
    """Return the indentation of an item in a list within a list."""
    spaces = line.expandtabs(4)
    depth = min((len(spaces) - len(spaces.lstrip())) // 2, 4)
    return "  " * depth if ITEM.match(line.lstrip()) else ""


def _plain_block(lines: list[str]) -> Block:
    return Block("item" if ITEM.match(lines[0].lstrip()) else "paragraph", unwrapped(lines))


def unwrapped(lines: Iterable[str]) -> str:
    """Join the lines of a paragraph that were broken for their width alone.

    A break is kept where the next word would have fitted.
    """
    first, *rest = lines = list(lines)
    width = max(WRAPPED_AT, *map(len, lines))
    text, last = first, first
    for line in rest:
        fitted = len(last) + 1 + len(line.split(" ", 1)[0]) <= width
        text += ("\n" if fitted else space(last, line)) + line
        last = line
    return text


def space(before: str, after: str) -> str:
    """Return what stands between two lines as one: nothing in scripts without spaces."""
    return "" if _SEAMLESS.search(before[-1:] + after[:1]) else " "


def as_text(blocks: Iterable[Block]) -> str:
    """Write blocks as models read them: neighbouring items and rows on lines of their own."""
    text, before, shown = "", "", set[str]()
    for block in blocks:
        lines = [line for line in block.lead if line not in shown]
        shown.update([*lines, block.text])
        tight = block.kind == before and block.kind in ("item", "row") and not lines
        text += ("\n" if tight else "\n\n") if text else ""
        lines.append(f"```\n{block.text}\n```" if block.kind == "code" else block.text)
        text += "\n".join(lines)
        before = block.kind
    return text
