"""Text that can be stored: what neither UTF-8 nor PostgreSQL can hold is replaced."""

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
