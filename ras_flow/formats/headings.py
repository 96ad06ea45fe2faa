"""A passage's title: its document's title and the headings above it, as one line."""

from __future__ import annotations

from collections.abc import Iterable

ABOVE = " › "
"""Stands between the parts of a heading path."""

LONGEST = 300
"""Characters of a title that passages carry: a page that is one long heading would be in each."""


def heading_path(parts: Iterable[str]) -> str:
    """Write a heading path, no part twice; of a long one the parts in the middle are left out."""
    first: dict[str, str] = {}
    for part in filter(None, parts):
        first.setdefault(part.casefold(), part)
    names = list(first.values())
    while len(ABOVE.join(names)) > LONGEST and len(names) > 2:
        del names[1]
    path = ABOVE.join(names)
    return path if len(path) <= LONGEST else f"{path[:LONGEST].rstrip()}…"


def last_heading(title: str) -> str:
    """Return what a passage is about: the last part of its heading path."""
    return title.rpartition(ABOVE)[2]
