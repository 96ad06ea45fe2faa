"""Any text: whether it says anything, and how it can be stored."""

from __future__ import annotations

import re
import unicodedata

import regex

UNSTORABLE = re.compile("[\0\ud800-\udfff]")
"""NUL, and halves of surrogate pairs, as PDF files and models' outputs contain."""

_LONG_STACK = regex.compile(r"(?<=\p{M}{30})\p{M}+")
"""Marks on one letter beyond what Unicode's stream-safe format has; no language needs so many."""

_JOINERS = "\u200c\u200d"
"""Format characters that Persian, Indic scripts and emoji are written with."""


def scrub(text: str) -> str:
    """Replace what cannot be stored by U+FFFD.

    Args:
        text: Any string.

    Returns:
        The same string with such characters replaced.
    """
    return UNSTORABLE.sub("\ufffd", text)


def stream_safe(text: str) -> str:
    """Drop marks beyond the 30th on one letter: to normalise text takes time in their square.

    Args:
        text: Any string.

    Returns:
        The same string without them.
    """
    return text if text.isascii() else _LONG_STACK.sub("", text)


def plain(text: str) -> str:
    """Return text on one line without control characters, so that it cannot drive a terminal."""
    spaced = " ".join(text.split())
    return "".join(
        c for c in spaced if c in _JOINERS or unicodedata.category(c) not in ("Cc", "Cf", "Cs")
    )


def has_word(text: str) -> bool:
    """Tell whether a text has a letter or a digit."""
    return any(char.isalnum() for char in text)
