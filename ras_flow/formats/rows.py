"""Facts that need no model: rows of tables, and lists of names and values."""

from __future__ import annotations

import re

from ras_flow.formats.triples import Spo

_CELL = re.compile(r"(?P<name>[^\W_][^:;|.!?\n]{0,60}|-): (?P<value>\S.*)")
_MARKER = re.compile(r"^\s*(?:- )?")
_LONGEST_NAME = 6
_LONGEST_VALUE = 12
"""Words; of longer texts a model makes more than one fact."""
EMPTY = "-"
"""Stands in a cell that a table leaves empty, and for the name of a column without one."""

_FENCE = "```"


def read_rows(text: str, topic: str) -> tuple[list[Spo], str]:
    """Return the facts that lines of a text state by themselves, and the text without these lines.

    "Office: Lisbon; Manager: Ida Storm" says that Lisbon's manager is Ida Storm. Several lines like
    "Phone: 47 18" say what the passage's topic has.
    """
    facts: list[Spo] = []
    rest: list[str] = []
    pairs: list[tuple[str, Spo]] = []
    in_code = False

    def end_pairs() -> None:
        if len(pairs) > 1 and topic:
            _drop_lead(rest)
            facts.extend(fact for _, fact in pairs)
        else:
            rest.extend(line for line, _ in pairs)
        pairs.clear()

    for line in text.split("\n"):
        in_code ^= line.startswith(_FENCE)
        cells = None if in_code else _cells(line)
        if cells and len(cells) == 1:
            pairs.append((line, (topic, *cells[0])))
            continue
        end_pairs()
        if not cells:
            rest.append(line)
            continue
        _drop_lead(rest)
        (_, subject), *others = cells
        facts += [(subject, *cell) for cell in others]
    end_pairs()
    facts = [fact for fact in facts if EMPTY not in fact]
    return facts, "\n".join(rest).strip("\n")


def row_cells(line: str) -> list[tuple[str, str]]:
    """Return the names and values of a table's row; nothing for other lines."""
    cells = _cells(line) or []
    return cells if len(cells) > 1 else []


def _cells(line: str) -> list[tuple[str, str]] | None:
    """Return a row's names and values; None for other lines and long values."""
    cells: list[tuple[str, str]] = []
    for piece in _MARKER.sub("", line, count=1).split("; "):
        cell = _CELL.fullmatch(piece)
        if cell and len(cell["name"].split()) <= _LONGEST_NAME:
            cells.append((cell["name"], cell["value"].strip()))
        elif cells:
            name, value = cells[-1]
            cells[-1] = (name, f"{value}; {piece}")
        else:
            return None
    short = all(len(value.split()) <= _LONGEST_VALUE for _, value in cells)
    return cells if short and not re.search(r"[.!?]$", line) else None


def _drop_lead(rest: list[str]) -> None:
    """Drop the line above a row that says what follows: a caption, "The offices are:"."""
    if rest and rest[-1].strip() and not re.search(r"[.!?]$", rest[-1]):
        rest.pop()
