"""The numbers that Word shows before list items and headings, which are not in their text."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any, NamedTuple

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_VAL = f"{WORD}val"
_ROMAN = dict(
    zip(
        "m cm d cd c xc l xl x ix v iv i".split(),
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        strict=True,
    )
)
_LARGEST = 4_000
"""Larger numbers are written in digits: a file can claim any."""


class _Level(NamedTuple):
    kind: str
    text: str
    start: int


class Label(NamedTuple):
    """A number, or "-" for a bullet, and how many lists are around it."""

    text: str
    depth: int


class Lists:
    """Counts a document's items, in the order of its paragraphs."""

    def __init__(self, numbering: Any | None) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._abstract: dict[str, str] = {}
        self._starts: dict[str, dict[int, int]] = defaultdict(dict)
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        if numbering is None:
            return
        styled: dict[str, str] = {}
        for one in numbering.iterchildren(f"{WORD}abstractNum"):
            name = one.get(f"{WORD}abstractNumId", "")
            self._levels[name] = dict(map(_level, one.iterchildren(f"{WORD}lvl")))
            if style := value(one, "styleLink"):
                styled[style] = name
        for one in numbering.iterchildren(f"{WORD}abstractNum"):
            name = one.get(f"{WORD}abstractNumId", "")
            self._levels[name] = self._levels.get(
                styled.get(value(one, "numStyleLink"), name), self._levels[name]
            )
        for one in numbering.iterchildren(f"{WORD}num"):
            number = one.get(f"{WORD}numId", "")
            self._abstract[number] = value(one, "abstractNumId")
            for change in one.iterchildren(f"{WORD}lvlOverride"):
                if (start := value(change, "startOverride")).isdecimal():
                    self._starts[number][int(change.get(f"{WORD}ilvl", 0))] = int(start)

    def label(self, number: str, depth: int) -> Label | None:
        """Count an item of a list, and return what is written before it."""
        abstract = self._abstract.get(number, "")
        levels = self._levels.get(abstract, {})
        if depth not in levels:
            return None
        counts = self._counts[abstract]
        for deeper in [one for one in counts if one > depth]:
            del counts[deeper]
        start = self._starts[number].pop(depth, None)
        if start is not None or depth not in counts:
            counts[depth] = levels[depth].start if start is None else start
        else:
            counts[depth] += 1
        if levels[depth].kind == "bullet":
            return Label("-", depth)

        def shown(place: re.Match[str]) -> str:
            level = levels.get(int(place[1]) - 1, levels[depth])
            return _written(counts.get(int(place[1]) - 1, level.start), level.kind)

        return Label(re.sub(r"%(\d)", shown, levels[depth].text).strip(), depth)


def _level(level: Any) -> tuple[int, _Level]:
    start = value(level, "start")
    kind = value(level, "numFmt") or "decimal"
    return int(level.get(f"{WORD}ilvl", 0)), _Level(
        kind, value(level, "lvlText"), int(start) if start.isdecimal() else 1
    )


def _written(number: int, kind: str) -> str:
    if kind == "none":
        return ""
    if kind == "decimalZero":
        return f"{number:02}"
    if not 0 < number < _LARGEST:
        return str(number)
    if kind.endswith("Letter"):
        letters = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
    elif kind.endswith("Roman"):
        letters, left = "", number
        for sign, worth in _ROMAN.items():
            letters += sign * (left // worth)
            left %= worth
    else:
        return str(number)
    return letters.upper() if kind.startswith("upper") else letters


def value(element: Any, *names: str) -> str:
    """Return the value of an element below another; empty without it."""
    found = element.find("/".join(WORD + name for name in names))
    return "" if found is None else str(found.get(_VAL, ""))
