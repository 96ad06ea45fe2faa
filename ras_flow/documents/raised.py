"""Raised numbers of a page or Word file, which plain text has no place for."""

from __future__ import annotations

import re

RAISED = "\ufdd0"
"""Where raised text begins: a character that no text has."""

_POWER = re.compile(rf"(?<=\d){RAISED}(?=[-−+]?\d)")


def as_powers(text: str) -> str:
    """Write a raised number that follows another as a power: 10⁶ must not become 106."""
    return _POWER.sub("^", text).replace(RAISED, "")
