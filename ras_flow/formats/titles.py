"""Titles as names: what a passage is about, and whether its text speaks of it."""

from __future__ import annotations

import re
from functools import lru_cache

from ras_flow.formats.headings import ABOVE
from ras_flow.formats.normalize import has_name, normalize_name

_SUFFIX = re.compile(r"(?<!\s)\s*\(([^()]*)\)$")
_WORD = re.compile(r"\w+")
_INSIDE = re.compile(r"(?:(?<=[\w,;] )|(?<=[\w,;] [\"“‘(]))\w+")
"""A word within a sentence, where only names have capitals."""
_ARTICLE = re.compile(r"(?:the|an?) ")
_LEAST = 3
_NAME_ENDS = re.compile(r"[(,;:\[]|\s(?:is|was|are|were|has|had)\s")
_PARTICLES = frozenset(
    "af al av bin bint da de del della den der di du e el ibn la le ten ter van von y zu".split()
)
_OPENING = 200
_MOST_WORDS = 10
_CLIPPED = 3
"""Letters from which the beginning of a name stands for it, as "Russ" does; an initial does too."""


def own_title(title: str) -> str:
    """Return the last heading of a title that is a path."""
    return title.rpartition(ABOVE)[2] or title


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
    it with its capitals. Of a longer name a part is enough, such as "Aalto": its last word, or one
    with a capital within a sentence.
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


def full_name(title: str, text: str) -> str:
    """Return the longer form of its title with which a text opens."""
    short = short_title(title)
    wanted = normalize_name(short).split()
    opening = _NAME_ENDS.split(text[:_OPENING].strip(), maxsplit=1)[0].strip()
    words = normalize_name(opening).split()
    if words == wanted or not 2 <= len(wanted) <= len(words) <= _MOST_WORDS:
        return ""
    if not (_is_name(short) and _is_name(opening)):
        return ""
    left = iter(words)
    in_order = all(any(_stands_for(part, word) for word in left) for part in wanted)
    return opening if in_order and words[-1] == wanted[-1] else ""


def _is_name(text: str) -> bool:
    return all(word[0].isupper() or word in _PARTICLES for word in _WORD.findall(text))


def _stands_for(part: str, word: str) -> bool:
    return word == part or (word.startswith(part) and (len(part) == 1 or len(part) >= _CLIPPED))
