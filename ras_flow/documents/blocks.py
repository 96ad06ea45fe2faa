"""Documents as sequences of blocks: what every reader makes, and the splitter packs."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import regex

from ras_flow.formats.tokens import UNSPACED

_WRAPPED_AT = 50
"""Least width, in characters, at which a text is wrapped."""

ITEM = re.compile(r"(?:[-*+•‣◦▪–]|\(?(?:\d{1,3}|[A-Za-z])[.)])\s+(?=\S)")
"""The start of a list's item in plain text."""

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


def unwrapped(lines: Sequence[str], kept: Container[int] = ()) -> str:
    """Join lines that were broken for their width alone.

    A break stays where the next word would have fitted, and before the lines at the positions
    ``kept``. Scripts without spaces get none.
    """
    width = max(_WRAPPED_AT, *map(len, lines))
    text = lines[0]
    for at, (last, line) in enumerate(pairwise(lines), start=1):
        fitted = len(last) + 1 + len(line.partition(" ")[0]) <= width
        space = "" if _SEAMLESS.search(last[-1:] + line[:1]) else " "
        text += ("\n" if fitted or at in kept else space) + line
    return text


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
