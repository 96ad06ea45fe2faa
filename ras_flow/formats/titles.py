"""Titles as names: what a passage is about, and whether its text speaks of it."""

from __future__ import annotations

import re
from functools import lru_cache

from ras_flow.formats.normalize import has_name, normalize_name

PATH = " › "
"""Between the headings of a title that is a path: "Handbook › Pumps › PX-9"."""

_SUFFIX = re.compile(r"(?<!\s)\s*\(([^()]*)\)$")
_WORD = re.compile(r"\w+")
_INSIDE = re.compile(r"(?:(?<=[\w,;] )|(?<=[\w,;] [\"“‘(]))\w+")
"""A word within a sentence, where only names have capitals."""
_ARTICLE = re.compile(r"(?:the|an?) ")
_LEAST = 3


def own_title(title: str) -> str:
    """Return the last heading of a title that is a path."""
    return title.rpartition(PATH)[2] or title


def short_title(title: str) -> str:
    """Return a title without what tells it from others of its name: "Salt Road (film)"."""
    own = own_title(title)
    return _SUFFIX.sub("", own) or own


def qualifier(title: str) -> str:
    """Return what tells a title from others of its name, as "1950 film"; mostly empty."""
    suffix = _SUFFIX.search(title)
    return suffix[1] if suffix else ""


@lru_cache(maxsize=4)
def speaks_of(text: str, title: str) -> bool:
    """Tell whether a title is a name, and a text speaks of what it names.

    A file's name ("notes", "Annual Report") counts only if the text itself opens with it or writes
    it with its capitals. Of a longer name a part is enough, as "Aalto", that is written
    with a capital within a sentence, or that is its last word.
    """
    name = short_title(title)
    if all(map(str.islower, _WORD.findall(name))):
        return False
    capitals = _capitals(text)
    if _capitals(name) <= capitals and has_name(text, name):
        return True
    opening = _ARTICLE.sub("", normalize_name(text[: 2 * len(name)]))
    if f"{opening} ".startswith(f"{normalize_name(name)} "):
        return True
    words = [word for word in _WORD.findall(name) if len(word) >= _LEAST and word.isalpha()]
    last = map(normalize_name, words[-1:])
    inside = _capitals(" ".join(_INSIDE.findall(text)))
    return not capitals.isdisjoint(last) or not inside.isdisjoint(_capitals(" ".join(words)))


def _capitals(text: str) -> set[str]:
    """Return the normalised words of a text that are not in small letters."""
    words = set(_WORD.findall(text))
    return {normalize_name(word) for word in words if any(map(str.isupper, word))}
