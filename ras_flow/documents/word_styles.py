"""What a Word paragraph's style makes of it: a heading, an item, code, hidden text."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ras_flow.documents.word_lists import WORD, value

_HEADING = re.compile(r"heading (\d)")
_CODE = re.compile(r"(?:source ?code|code|html preformatted|preformatted text|macro text)")


class Style(NamedTuple):
    """What is known of a paragraph.

    Attributes:
        level: Of a heading; 0 for the document's title, None for other text.
        list: The list that it is in, and its depth there.
        is_code: Whether it is a line of code.
        is_contents: Whether it is a line of a table of contents.
    """

    level: int | None = None
    list: tuple[str, int] | None = None
    is_code: bool = False
    is_contents: bool = False


class Styles:
    """The styles of a file, each looked up once: python-docx takes a millisecond for it."""

    def __init__(self, root: Any) -> None:
        elements = {one.get(f"{WORD}styleId", ""): one for one in root.iterchildren(f"{WORD}style")}
        self.hidden = {
            name for name, one in elements.items() if is_on(one.find(f"{WORD}rPr/{WORD}vanish"))
        }
        self._styles: dict[str, Style] = {}
        for name, element in elements.items():
            chain, seen = element, {name}
            style = Style()
            while chain is not None:  # What a style does not say is as in the one it is based on.
                style = _filled(style, chain)
                above = value(chain, "basedOn")
                chain = None if above in seen else elements.get(above)
                seen.add(above)
            self._styles[name] = style

    def of(self, paragraph: Any) -> Style:
        """Return a paragraph's style, with what it says itself."""
        own = paragraph.find(f"{WORD}pPr")
        if own is None:
            return Style()
        style = self._styles.get(value(own, "pStyle"), Style())
        said = _said(own)
        if said.list:
            number, depth = said.list
            inherited = style.list[0] if style.list else ""
            style = style._replace(list=(number or inherited, depth))
        return style if said.level is None else style._replace(level=said.level)


def is_on(switch: Any) -> bool:
    """Tell whether a property that is on or off is on."""
    return switch is not None and switch.get(f"{WORD}val", "1") not in ("0", "false", "off")


def _filled(style: Style, element: Any) -> Style:
    """Return a style with what it lacks taken from an element."""
    name = value(element, "name").lower()
    own = element.find(f"{WORD}pPr")
    said = Style() if own is None else _said(own)
    level = said.level
    if heading := _HEADING.fullmatch(name):
        level = int(heading[1])
    elif name == "title":
        level = 0
    return Style(
        level if style.level is None else style.level,
        style.list or said.list,
        style.is_code or _CODE.fullmatch(name) is not None,
        style.is_contents or re.fullmatch(r"toc \d", name) is not None,
    )


def _said(properties: Any) -> Style:
    outline, depth = value(properties, "outlineLvl"), value(properties, "numPr", "ilvl")
    level = int(outline) + 1 if outline.isdecimal() and int(outline) < 9 else None
    number = value(properties, "numPr", "numId")
    listed = (number, int(depth) if depth.isdecimal() else 0) if number or depth else None
    return Style(level, listed)
