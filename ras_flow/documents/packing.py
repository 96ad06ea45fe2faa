"""Blocks of one section packed into passages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ras_flow.documents.blocks import Block, as_text
from ras_flow.documents.words import SHORT_LEAD, count_words, cut
from ras_flow.formats.sentences import sentence_spans


class _Part(NamedTuple):
    """A block, or a piece of one that is too long, and what is written before it."""

    block: Block
    lead: tuple[str, ...]
    between: str
    text: str


@dataclass
class Packed:
    """A passage while it is filled."""

    size: int = 0
    parts: list[_Part] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """The URL fragment that leads to the first block; empty if unknown."""
        return self.parts[0].block.anchor

    @property
    def lines(self) -> set[str]:
        """Its lines, which need not be repeated in it."""
        return {line for part in self.parts for line in (*part.lead, part.text)}

    @property
    def text(self) -> str:
        """The blocks as models read them."""
        blocks: list[Block] = []
        last = None
        for block, lead, between, text in self.parts:
            if block is last:
                blocks[-1] = replace(blocks[-1], text=f"{blocks[-1].text}{between}{text}")
            else:
                blocks.append(replace(block, text=text, lead=lead))
            last = block
        return as_text(blocks)


def packed(blocks: Iterable[Block], max_words: int) -> list[Packed]:
    """Pack blocks into passages of at most ``max_words``; a short beginning or rest joins another.

    A block that is longer is cut: a row between cells, code between lines, others between
    sentences. Each passage repeats what its first block needs to be understood.
    """
    passages: list[Packed] = []
    told: set[str] = set()
    for block in _introduced(blocks):
        # What is long is told only once.
        lead = tuple(
            line for line in block.lead if line not in told or count_words(line) * 4 <= max_words
        )
        told.update([*lead, block.text])
        for number, (between, text, size) in enumerate(_pieces(block, max_words)):
            known = passages[-1].lines if passages and lead else ()
            more = size + sum(count_words(line) for line in lead if line not in known)
            if not passages or not _fits(passages[-1].size, more, max_words):
                passages.append(Packed())
                more = size + sum(map(count_words, lead))
                if number and block.kind == "row":
                    text = _row_name(block, max_words) + text
            passages[-1].parts.append(_Part(block, lead, between, text))
            passages[-1].size += more
    if len(passages) > 1:
        *_, before, rest = passages
        if _fits(rest.size, before.size, max_words):
            before.parts.extend(passages.pop().parts)
    return passages


def _fits(size: int, more: int, max_words: int) -> bool:
    """Tell whether a passage of ``size`` words takes more: a short one may grow by a quarter."""
    most = max_words * 5 / 4 if size * 4 <= max_words else max_words
    return size + more <= most


def _introduced(blocks: Iterable[Block]) -> Iterator[Block]:
    """Make the line before a list, table or code lead each of its blocks."""
    intro: Block | None = None
    led = False
    for block in blocks:
        inside = block.kind not in ("paragraph", "heading")
        if intro and not inside:
            if not led:
                yield intro
            intro = None
        if intro:
            led = True
            lead = (intro.text, *block.lead)
            block = replace(block, lead=lead, anchor=block.anchor or intro.anchor)
        elif not inside and block.text.endswith((":", "：")):
            if count_words(block.text) <= SHORT_LEAD:
                intro, led = block, False
                continue
        yield block
    if intro and not led:
        yield intro


def _pieces(block: Block, max_words: int) -> Iterator[tuple[str, str, int]]:
    """Yield a block whole, or what a long one may be cut into: the break before, text, size."""
    if (size := count_words(block.text)) <= max_words:
        yield "", block.text, size
        return
    for line in block.text.split("\n"):
        between = "\n"
        for space, unit in _units(block, line):
            between = between or space
            size = count_words(unit)
            pieces = cut(unit, max_words) if size > max_words else [("", unit, size)]
            for before, text, size in pieces:
                yield between or before, text, size
                between = ""


def _row_name(block: Block, max_words: int) -> str:
    """Return a row's first cell, which tells what the others are about."""
    name, more, _ = block.text.partition("; ")
    return name + more if count_words(name) * 4 <= max_words else ""


def _units(block: Block, line: str) -> Iterator[tuple[str, str]]:
    """Yield what may stand in different passages, with the space before it."""
    spans = sentence_spans(line)
    if block.kind == "code":
        spans = iter([(0, len(line))])
    elif block.kind == "row":
        spans = (cell.span() for cell in re.finditer(r"\S.*?(?:;(?= )|$)", line))
    last = 0
    for start, end in spans:
        yield " " * (start > last), line[start:end]
        last = end
