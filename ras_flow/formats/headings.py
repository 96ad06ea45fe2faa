"""A passage's title: its document's title and the headings above it, as one line."""

from __future__ import annotations

from collections.abc import Iterable

import regex

ABOVE = " › "
"""Stands between the parts of a heading path."""

LONGEST = 300
"""Characters of a title that passages carry: a page that is one long heading would be in each."""

_LIKE_A_NAME = regex.compile(r"\d|\s\p{Lu}")
"""A digit, or a word after the first that begins with a capital letter."""


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


def topic(title: str, text: str) -> str:
    """Return the part of a heading path that a passage is about, as far as it can be told.

    The lowest part that the text names, or else that looks like a name, or else the lowest: "Alvar
    Aalto › Early life" is about Alvar Aalto, and "Pumps › PX-9" about PX-9.
    """
    parts = title.split(ABOVE)[::-1]
    if len(parts) == 1:
        return title
    named = (part for part in parts if part in text)
    return next(named, "") or next(filter(_LIKE_A_NAME.search, parts), parts[0])
