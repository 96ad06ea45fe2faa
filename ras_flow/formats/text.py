"""Texts without what cannot be stored, and without thoughts."""

from __future__ import annotations

import re

UNSTORABLE = re.compile("[\0\ud800-\udfff]")
"""NUL, and halves of surrogate pairs, as PDF files and models' outputs contain."""

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


def scrub(text: str) -> str:
    """Replace what cannot be stored by U+FFFD.

    Args:
        text: Any string.

    Returns:
        The same string with such characters replaced.
    """
    return UNSTORABLE.sub("\ufffd", text)


def spoken(text: str) -> str:
    """Leave out what a model thought before it spoke.

    Args:
        text: What it wrote.

    Returns:
        What is outside of ``<think>`` and ``</think>``; nothing where a thought has no end.
    """
    # The opening tag may have been part of the prompt.
    return _THOUGHT_END.split(_THOUGHT.sub("", text))[-1]
