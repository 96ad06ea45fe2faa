"""Any text: whether it says anything, and how it can be stored."""

from __future__ import annotations

import re

import regex

UNSTORABLE = re.compile("[\0\ud800-\udfff]")
"""NUL, and halves of surrogate pairs, as PDF files and models' outputs contain."""

_LONG_STACK = regex.compile(r"(?<=\p{M}{30})\p{M}+")
"""Marks on one letter beyond what Unicode's stream-safe format has; no language needs so many."""


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


def has_word(text: str) -> bool:
    """Tell whether a text has a letter or a digit."""
    return any(char.isalnum() for char in text)
