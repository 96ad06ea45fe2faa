"""Whether a passage states a fact: the names and numbers of the fact must stand in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from ras_flow.formats.pronouns import is_pronoun
from ras_flow.formats.tokens import tokenize
from ras_flow.formats.triples import Spo

_WORD = re.compile(r"\S+")
_SHORT = 3
_ENDING = 2
"""Letters by which a word's form may differ: "Norwegians", "Berlins"."""


def is_stated(spo: Spo, title: str, text: str) -> bool:
    """Tell whether names and numbers of subject and object stand in a passage.

    A name is a word with a capital or a digit. Without one, as in scripts without capitals, half of
    the longer words must stand.
    """
    words = _words(f"{title} {text}")
    parts = [part for part in (spo[0], spo[2]) if not is_pronoun(part)]
    names = [term for part in parts for term in _names(part)]
    if names:
        return all(_stands(term, words) for term in names)
    terms = [term for part in parts for term in tokenize(part)]
    terms = [term for term in terms if len(term) > _SHORT or not term.isascii()] or terms
    return 2 * sum(_stands(term, words) for term in terms) >= max(len(terms), 1)


def _names(part: str) -> Iterable[str]:
    for word in _WORD.findall(part):
        if any(char.isupper() or char.isdigit() for char in word):
            yield from tokenize(word)


def _stands(term: str, words: frozenset[str]) -> bool:
    if term in words:
        return True
    if len(term) <= 2 * _ENDING or any(char.isdigit() for char in term):
        return False
    stem = term[:-_ENDING]
    return any(word.startswith(stem) and abs(len(word) - len(term)) <= _ENDING for word in words)


@lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    return frozenset(tokenize(text))
