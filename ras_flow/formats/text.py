"""Any text: whether it says anything, and how it can be stored."""

from __future__ import annotations

import re

UNSTORABLE = re.compile("[\0\ud800-\udfff]")
"""NUL, and halves of surrogate pairs, as PDF files and models' outputs contain."""


def scrub(text: str) -> str:
    """Replace what cannot be stored by U+FFFD.

    Args:
        text: Any string.

    Returns:
        The same string with such characters replaced.
    """
    return UNSTORABLE.sub("\ufffd", text)


def has_word(text: str) -> bool:
    """Tell whether a text has a letter or a digit."""
    return any(char.isalnum() for char in text)
