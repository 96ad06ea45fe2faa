"""Which names a text has in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from unicodedata import normalize

import regex

from ras_flow.formats.normalize import has_words, name_key, name_words, normalize_name
from ras_flow.formats.text import has_word
from ras_flow.formats.tokens import UNSPACED

_APOSTROPHE = re.compile(r"['’](?:s\b)?", re.IGNORECASE)
"""What parts a name from what is written with it: "Clara's", "l'Italie", "Ankara'da"."""
_HANGUL_END = regex.compile(r"\p{Hangul}\Z")

_SYMBOL = 3
"""Letters of a name at most that letter case tells from others; a longer one may be a heading."""

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
    """Tell whether a question is in English, whose function words are known."""
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
    """Names that can be looked for in many texts.

    A name's normalised form stands for it. Where several entities share one, as "Văn Ánh" and
    "Văn Anh" do, accents tell them apart, and letter case those of three letters ("CO" and "Co").
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._spaced: dict[str, list[str]] = {}
        self._unspaced: list[str] = []
        self._spelled: dict[str, dict[str, set[str]]] = {}
        for spelled in dict.fromkeys(names):
            keys = self._spelled.setdefault(normalize_name(spelled), {})
            keys.setdefault(_key(spelled), set()).add(normalize("NFC", spelled.strip()))
        for name in self._spelled:
            joined = not name.isascii() and (UNSPACED.search(name) or _HANGUL_END.search(name))
            if len(name) < (2 if joined else 3):
                continue
            if joined:
                self._unspaced.append(name)
            else:
                self._spaced.setdefault(name.split(" ", 1)[0], []).append(name)

    def form(self, name: str) -> str:
        """Return what stands for a name: its normalised form, or its key if others share it."""
        form = normalize_name(name)
        return _key(name) if len(self._spelled.get(form, ())) > 1 else form

    def others(self, name: str) -> set[str]:
        """Return what stands for the other entities that have a name's normalised form."""
        return self._spelled.get(normalize_name(name), {}).keys() - {name}

    def within(self, text: str) -> set[str]:
        """Return what stands for the names that a text has in it as whole words.

        A name has three letters or digits at least; two where a script has no spaces between
        words. What several entities share may mean each, unless it is spelled as one of them is.
        """
        form = " | ".join(map(normalize_name, {text, _APOSTROPHE.sub(" ", text)}))
        words = self._spaced.keys() & form.split()
        begin = (name for word in words for name in self._spaced[word])
        found = (one for one in (*begin, *self._unspaced) if one in form and has_words(form, one))
        return {name for one in found for name in self._meant(one, text)}

    def _meant(self, form: str, text: str) -> Iterable[str]:
        keys = self._spelled[form]
        if len(keys) == 1:
            return [form]
        text = normalize("NFC", text)
        meant = (key for key, names in keys.items() if any(_is_in(text, one) for one in names))
        return [*meant] or keys


def _key(name: str) -> str:
    key = name_key(name)
    return key if len(key) <= _SYMBOL else key.casefold()


def _is_in(text: str, spelled: str) -> bool:
    return bool(re.search(rf"(?<!\w){re.escape(spelled)}(?!\w)", text))


def longest(names: Iterable[str]) -> set[str]:
    """Leave out names that are part of others."""
    found = set(names)
    return {
        name for name in found if not any(name != one and has_words(one, name) for one in found)
    }
