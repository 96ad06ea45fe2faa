"""Full names: a text that is called "Russ Meyer" opens with "Russell Albion Meyer"."""

from __future__ import annotations

import re

from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.titles import short_title

_NAME_ENDS = re.compile(r"[(,;:\[]|\s(?:is|was|are|were|has|had)\s")
_WORD = re.compile(r"\w+")
_PARTICLES = frozenset(
    "af al av bin bint da de del della den der di du e el ibn la le ten ter van von y zu".split()
)
_OPENING = 200
_MOST_WORDS = 10
_CLIPPED = 3
"""Letters from which the beginning of a name stands for it, as "Russ" does; an initial does too."""


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
