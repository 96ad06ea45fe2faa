"""Words of any script, as BM25 counts them."""

from __future__ import annotations

import unicodedata

import regex

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}ー\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
UNSPACED = regex.compile(f"[{_UNSPACED}]")
"""A character of a script that is written without spaces between words."""

_WORD = regex.compile(
    rf"(?P<run>[{_UNSPACED}]+)|[[\w\p{{M}}]--[{_UNSPACED}]]+", flags=regex.VERSION1
)
_LATIN_ACCENT = regex.compile(r"(?<=\p{Latin})\p{Mn}+")


def tokenize(text: str) -> list[str]:
    """Split a text into search terms.

    Case, width and the accents of Latin letters are folded ("Beyoncé" finds "beyonce"). Scripts
    written without spaces become single characters and pairs of neighbours, since their words
    cannot be told apart without a dictionary. Nothing is stemmed and no word is left out: on
    our development questions neither made retrieval better.

    Args:
        text: Any text.

    Returns:
        The terms in order, repeated ones repeated.
    """
    if not text.isascii():
        bare = _LATIN_ACCENT.sub("", unicodedata.normalize("NFKD", text))
        text = unicodedata.normalize("NFC", bare)
    terms: list[str] = []
    for match in _WORD.finditer(text.casefold()):
        word = match.group()
        if match["run"]:
            terms.extend(word)
            terms.extend(word[at : at + 2] for at in range(len(word) - 1))
        else:
            terms.append(word)
    return terms
