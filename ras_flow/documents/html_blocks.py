"""The elements of a page to blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from ras_flow.documents.blocks import Block
from ras_flow.documents.shared import RAISED, as_powers
from ras_flow.documents.tables import Cell, table_blocks
from ras_flow.documents.words import items_above
from ras_flow.formats.headings import LONGEST
from ras_flow.formats.text import has_word

_LINES = frozenset(
    "address article aside blockquote body center details dialog div dl dt dd fieldset figcaption "
    "figure footer form header hr html legend li main menu nav ol p pre section summary ul "
    "table caption colgroup thead tbody tfoot tr td th".split()
)
"""Tags that end a line, both where they begin and where they end."""
_HEADINGS = ["h1", "h2", "h3", "h4", "h5", "h6"]
_PLACES = frozenset(["a", "article", "div", "section", "span", *_HEADINGS])
"""Tags whose id leads to the heading in them or after them."""
_BREAK = "\ufdd1"
"""The end of a line in a cell or heading: a character that no text has."""
_DEEPEST = 6
"""Lists around an item that its indentation shows."""


@dataclass
class _List:
    """An open list: the number of its last item, if they are numbered, and its open item."""

    number: int | None = None
    letter: str = ""
    item: str | None = None


@dataclass
class _Table:
    """An open table of data."""

    rows: list[list[Cell]] = field(default_factory=list)
    caption: str = ""


class PageBlocks:
    """Makes blocks of a page's tags and texts, given in their order."""

    def __init__(self) -> None:
        self.made: list[Block] = []
        self._text: list[str] = []
        self._marker = ""
        """What the open item's first text begins with."""
        self._term = ""
        """What the next text defines."""
        self._defined = ""
        """The last term of the open list, for its further definitions."""
        self._in_term = False
        self._place = ""
        """The last id, until there is text."""
        self._heading: Any = None
        self._code = 0
        self._lists: list[_List] = []
        self._tables: list[_Table | None] = []

    def add(self, text: str) -> None:
        """Read a text."""
        self._text.append(text if self._code else re.sub(r"\s+", " ", text))

    def begin(self, tag: Any) -> None:
        """Read the start of a tag."""
        name = tag.name
        if name == "dt" and self._in_term:  # lxml does not end a term at the next.
            self._end_term()
        elif name in _LINES or name in _HEADINGS:
            self._end_line()
        if name in _PLACES and not (self._heading and self._place):
            self._place = tag.get("id") or (name == "a" and tag.get("name")) or self._place
        match name:
            case "br":
                self._text.append(_BREAK if self._table else "\n")
            case "sup":
                self._text.append(RAISED)
            case "pre":
                self._code += 1
            case "ul" | "menu":
                self._lists.append(_List())
            case "ol":
                letter = kind if (kind := tag.get("type", "")) in ("a", "A") else ""
                self._lists.append(_List(_number(tag, "start", 1) - 1, letter))
            case "li":
                self._begin_item(tag)
            case "dt" if not self._table:
                self._in_term = True
            case "dd" if not self._table:
                self._term = self._term or self._defined
            case "table":
                self._tables.append(None if _only_places(tag) else _Table())
            case "tr" if self._table:
                self._table.rows.append([])
            case _ if name in _HEADINGS and not self._table:
                self._heading = tag

    def end(self, tag: Any) -> None:
        """Read the end of a tag."""
        name = tag.name
        if tag is self._heading:
            self._end_heading(int(name[1]))
        elif name == "pre":
            self._end_code()
        elif self._table and name in ("td", "th", "caption"):
            self._end_cell(self._table, tag)
        elif name == "dt" and not self._table:
            self._end_term()
        elif name in _LINES:
            self._end_line()
        elif name in ("option", "button", "textarea"):
            self._text.append(" ")
        match name:
            case "ul" | "menu" | "ol" if self._lists:
                self._lists.pop()
            case "li" | "dl":
                self.finish()
                self._defined = ""
                if name == "li" and self._lists:
                    self._lists[-1].item, self._marker = None, ""
            case "table" if self._tables:
                if table := self._tables.pop():
                    self.made += table_blocks(table.rows, table.caption, tag.get("id", ""))
                self._end_line()

    def finish(self) -> None:
        """Write what is not written yet."""
        if self._term and not self._table:
            self._text.insert(0, f"{self._term} ")
            self._term = ""
        self._end_line()

    @property
    def _table(self) -> _Table | None:
        return self._tables[-1] if self._tables else None

    def _taken(self) -> str:
        text, self._text = as_powers("".join(self._text)).replace(_BREAK, "\n"), []
        lines = (" ".join(line.split()) for line in text.split("\n"))
        return "\n".join(filter(None, lines))

    def _end_line(self) -> None:
        """End a paragraph or the text of an item; in a cell or heading, a line of it."""
        if self._heading or self._table:
            self._text.append(_BREAK)
        elif not self._code and (text := self._taken()):
            kind: Literal["row", "paragraph"] = "row" if self._term else "paragraph"
            text = f"{self._term}: {text}" if self._term else text
            self._place = self._term = ""
            if not (around := self._items()):
                self.made.append(Block(kind, f"{self._marker}{text}"))
                self._marker = ""
                return
            lead = items_above(one.item for one in around)
            indent = "  " * min(len(around) - bool(self._marker), _DEEPEST)
            inner = f"{indent}  " if self._marker else indent
            text = f"{indent}{self._marker}{text}".replace("\n", f"\n{inner}")
            if self._marker:
                around[-1].item, self._marker = text, ""
            self.made.append(Block("item", text, lead=lead))

    def _items(self) -> list[_List]:
        return [one for one in self._lists if one.item is not None]

    def _begin_item(self, tag: Any) -> None:
        if self._term:
            self.finish()
        self._marker = "- "
        if self._lists:
            here = self._lists[-1]
            here.item = ""
            if here.number is not None:
                here.number = _number(tag, "value", here.number + 1)
                self._marker = f"{_numeral(here.number, here.letter)}. "

    def _end_term(self) -> None:
        self._in_term = False
        self._term = ", ".join(filter(None, [self._term, " ".join(self._taken().split())]))
        self._defined = self._term

    def _end_heading(self, level: int) -> None:
        text = " ".join(self._taken().split())
        self._heading, self._marker = None, ""
        if has_word(text) and len(text) <= LONGEST:
            self.made.append(Block("heading", text, level, anchor=self._place))
        elif text:
            self.made.append(Block("paragraph", text))
        self._place = ""

    def _end_code(self) -> None:
        self._code = max(self._code - 1, 0)
        if self._table or self._heading:
            self._end_line()
        elif not self._code:
            text, self._text = "".join(self._text), []
            code = "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")
            if code:
                lead = items_above(one.item for one in self._items())
                self.made.append(Block("code", code, lead=lead))

    def _end_cell(self, table: _Table, tag: Any) -> None:
        text = self._taken()
        if tag.name == "caption":
            table.caption = " ".join(text.split())
            return
        row = tag.parent
        is_head = tag.name == "th" or (row.parent is not None and row.parent.name == "thead")
        # In a head a line ends for want of room, in a cell after each of several things.
        text = re.sub(r"(?<![.,;:!?])\n", ", ", text) if not is_head else text
        columns, rows = (_number(tag, name, 1) for name in ("colspan", "rowspan"))
        if not table.rows:
            table.rows.append([])
        table.rows[-1].append(Cell(" ".join(text.split()), is_head, columns, rows))


def _only_places(table: Any) -> bool:
    """Tell whether a table is there to place what is in it on the page."""
    if table.get("role") in ("presentation", "none") or table.find(["table", "pre", *_HEADINGS]):
        return True
    if len(table.find_all(["td", "th"], limit=2)) < 2:
        return True
    return any(one.find_next_sibling("p") for one in table.find_all("p"))


def _number(tag: Any, name: str, default: int) -> int:
    written = tag.get(name, "")
    return int(written) if re.fullmatch(r"-?[0-9]{1,4}", written) else default


def _numeral(number: int, letter: str) -> str:
    return chr(ord(letter) + number - 1) if letter and 0 < number <= 26 else str(number)
