"""Which names a text has in it."""

from __future__ import annotations

import re
from collections.abc import Iterable

import regex

from ras_flow.formats.normalize import has_words, name_words, normalize_name
from ras_flow.formats.text import has_word
from ras_flow.formats.tokens import UNSPACED

_APOSTROPHE = re.compile(r"['’](?:s\b)?", re.IGNORECASE)
"""What parts a name from what is written with it: "Clara's", "l'Italie", "Ankara'da"."""
_HANGUL_END = regex.compile(r"\p{Hangul}\Z")

_FUNCTION_WORDS = frozenset(
    "a about after all also an and any are as at be because been before being between both but by "
    "can could did do does during each either for from give had has have he her him his how i if "
    "in into is it its just may me might more most much many my name named no not of off on one or "
    "our out over same she should since so some such tell than that the their them then there "
    "these they this those to under until up us was we were what when where whether which while "
    "who whom whose why will with would yes you your".split()
)

_ENGLISH = frozenset("the who whose what which where when why how did does do were are has".split())


def is_english(text: str) -> bool:
    """Tell whether a question is in the language whose function words are known."""
    return not _ENGLISH.isdisjoint(name_words(text))


def words_in(text: str) -> set[str]:
    """Return the normalised words of a text, with and without what an apostrophe joins to them."""
    words, bare = set(name_words(text)), _APOSTROPHE.sub(" ", text)
    return words if bare == text else words.union(name_words(bare))


def content_words(text: str) -> dict[str, bool]:
    """Return the words that say what a text is about, and whether each looks like a name or number.

    The first word may have its capital for another reason.
    """
    found: dict[str, bool] = {}
    for at, token in enumerate(_APOSTROPHE.sub(" ", text).split()):
        named = any(c.isdecimal() or c.isupper() for c in (token if at else token[1:]))
        for word in name_words(token):
            stands_for_itself = len(word) > 1 and token.isupper()  # "US", "WHO"
            if has_word(word) and (word not in _FUNCTION_WORDS or stands_for_itself):
                found[word] = found.get(word, False) or named
    return found


def is_proper(text: str) -> bool:
    """Tell whether a text has a capital, a digit or a letter of a script without capitals."""
    return any((c.isalpha() or c.isdecimal()) and not c.islower() for c in text)


class Names:
    """Names that can be looked for in many texts."""

    def __init__(self, names: Iterable[str]) -> None:
        self._spaced: dict[str, list[str]] = {}
        self._unspaced: list[str] = []
        for name in dict.fromkeys(map(normalize_name, names)):
            joined = not name.isascii() and (UNSPACED.search(name) or _HANGUL_END.search(name))
            if len(name) < (2 if joined else 3):
                continue
            if joined:
                self._unspaced.append(name)
            else:
                self._spaced.setdefault(name.split(" ", 1)[0], []).append(name)

    def within(self, text: str) -> set[str]:
        """Return the normalised names that a text has in it as whole words.

        A name has three letters or digits at least; two where a script has no spaces between words.
        """
        form = " | ".join(map(normalize_name, {text, _APOSTROPHE.sub(" ", text)}))
        words = self._spaced.keys() & form.split()
        begin = (name for word in words for name in self._spaced[word])
        return {one for one in (*begin, *self._unspaced) if one in form and has_words(form, one)}


def longest(names: Iterable[str]) -> set[str]:
    """Leave out names that are part of others."""
    found = set(names)
    return {
        name for name in found if not any(name != one and has_words(one, name) for one in found)
    }
