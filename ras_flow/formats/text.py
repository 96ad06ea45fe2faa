"""Any text: whether it says anything, and how it can be stored."""

from __future__ import annotations

import math
import re
import unicodedata
from typing import Any

import regex

UNSTORABLE = re.compile("[\0\ud800-\udfff]")
"""NUL, and halves of surrogate pairs, as PDF files and models' outputs contain."""

_LONG_STACK = regex.compile(r"(?<=\p{M}{30})\p{M}+")
"""Marks on one letter beyond what Unicode's stream-safe format has; no language needs so many."""

_JOINERS = "\u200c\u200d"
"""Format characters that Persian, Indic scripts and emoji are written with."""


def scrub(text: str) -> str:
    """Replace what cannot be stored by U+FFFD."""
    return UNSTORABLE.sub("\ufffd", text)


def scrub_all(value: Any) -> Any:
    """Scrub all texts of a value as JSON has them."""
    match value:
        case str():
            return scrub(value)
        case dict():
            return {scrub_all(key): scrub_all(item) for key, item in value.items()}
        case list() | tuple():
            return [scrub_all(item) for item in value]
        case None | bool():
            return value
        case int() if -(2**63) <= value < 2**63:
            return value
        case float():
            return value if math.isfinite(value) else None
        case int():
            raise ValueError(f"{value!r} cannot be stored")
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")


def stream_safe(text: str) -> str:
    """Drop marks beyond the 30th on one letter: normalising takes time in their square."""
    return text if text.isascii() else _LONG_STACK.sub("", text)


def tidy(text: str) -> str:
    """Return a text without needless space: its lines, their indentation, single blank lines."""
    lines = text.strip().splitlines()
    if len(lines) < 2:
        return " ".join(text.split())
    kept: list[str] = []
    for line in lines:
        words = line.split()
        indent = line[: len(line) - len(line.lstrip())] if kept else ""
        if words or kept[-1]:
            kept.append(indent + " ".join(words) if words else "")
    return "\n".join(kept)


def plain(text: str) -> str:
    """Return text on one line without control characters, so that it cannot drive a terminal."""
    spaced = " ".join(text.split())
    return "".join(
        c for c in spaced if c in _JOINERS or unicodedata.category(c) not in ("Cc", "Cf", "Cs")
    )


def has_word(text: str) -> bool:
    """Tell whether a text has a letter or a digit."""
    return any(char.isalnum() for char in text)
