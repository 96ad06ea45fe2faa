"""Blocks to sections, by the headings above them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby

from ras_flow.documents.blocks import Block
from ras_flow.documents.words import count_words

_SHORT = 10
"""A section of at most one tenth of a passage is packed with such neighbours."""


@dataclass
class Section:
    """Blocks under the same headings, without those under headings of their own."""

    path: tuple[str, ...] = ()
    anchor: str = ""
    blocks: list[Block] = field(default_factory=list)
    is_leaf: bool = True


def sections(title: str, blocks: Iterable[Block], max_words: int) -> list[Section]:
    """Return the sections of a document that have text; its title as a heading names none.

    Neighbours of a few words each become lines "heading: text" of the section around them. A
    heading with nothing under it is text, too.
    """
    found: list[Section] = []
    for (around, short), group in groupby(
        _by_headings(title, blocks), lambda one: (one.path[:-1], _is_short(one, max_words))
    ):
        some = list(group)
        if not short or (len(some) == 1 and some[0].blocks):
            found += (one for one in some if one.blocks)
        elif found and found[-1].path == around and len(some) > 1:
            found[-1].blocks += map(_as_line, some)
        else:
            found.append(Section(around, some[0].anchor, list(map(_as_line, some))))
    return found


def _by_headings(title: str, blocks: Iterable[Block]) -> list[Section]:
    above: list[Block] = []
    found = [Section()]
    for block in blocks:
        if block.kind != "heading":
            found[-1].blocks.append(block)
            continue
        found[-1].is_leaf = not above or block.level <= above[-1].level
        while above and above[-1].level >= block.level:
            above.pop()
        if block.text.casefold() != title.casefold():
            above.append(block)
        anchor = next((one.anchor for one in reversed([*above, block]) if one.anchor), "")
        path = tuple(one.text for one in above)
        if path != found[-1].path:
            found.append(Section(path, anchor))
        elif not found[-1].blocks:
            found[-1].anchor = anchor
    return found


def _is_short(section: Section, max_words: int) -> bool:
    if not section.path or not section.is_leaf or len(section.blocks) > 1:
        return False
    if section.blocks and section.blocks[0].kind != "paragraph":
        return False
    texts = [section.path[-1], *(block.text for block in section.blocks)]
    return not section.blocks or sum(map(count_words, texts)) * _SHORT <= max_words


def _as_line(section: Section) -> Block:
    heading = section.path[-1]
    if section.blocks:
        heading += " " if heading.endswith((":", "?", ".", "!")) else ": "
    texts = [" ".join(block.text.split()) for block in section.blocks]
    return Block("row", heading + "".join(texts), anchor=section.anchor)
