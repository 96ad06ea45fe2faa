"""Words of any script, as BM25 counts them."""

from __future__ import annotations

import re
import unicodedata

import regex

from ras_flow.formats.text import stream_safe

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}ー\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
UNSPACED = regex.compile(f"[{_UNSPACED}]")
"""A character of a script that is written without spaces between words."""

_ASCII_WORD = re.compile("[a-z0-9]+")
_PRINTED = re.compile("[–—‘’“”]")
"""Marks that are all that keeps most English texts from being ASCII."""
_WORD = regex.compile(
    rf"[[\w\p{{M}}]--[_\p{{Hangul}}{_UNSPACED}]]+|\p{{Hangul}}+|[{_UNSPACED}]+",
    flags=regex.VERSION1,
)
_KOREAN = regex.compile(r"\p{Hangul}")
POINTS = r"\u0300\u0301\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670"
"""Characters, for a regular expression, that few texts write: the stress of Cyrillic words, the
points of Hebrew and Arabic ones, and the stroke that makes these longer."""
_SILENT = regex.compile(rf"(?<=[\p{{Latin}}\p{{Greek}}])\p{{Mn}}+|[\xad{POINTS}]")
"""Accents, soft hyphens, which only say where a line may break, and points."""
STROKES = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "þ": "th", "æ": "ae", "œ": "oe"}
)
"""Latin letters that Unicode has no accent for."""


def tokenize(text: str) -> list[str]:
    """Split a text into search terms.

    Case, width, the accents of Latin and Greek letters and Latin letters of single languages are
    folded ("Beyoncé" finds "beyonce", "Łódź" finds "lodz"). So are marks that most texts in
    Cyrillic, Hebrew or Arabic letters leave out ("Достое́вский" is found by "достоевский").
    Scripts written without spaces become single characters and pairs of neighbours, since their
    words cannot be told apart without a dictionary; Korean words, whose endings vary, become
    pairs. Nothing is stemmed and no word is left out: on our development questions neither made
    retrieval better.
    """
    folded = text.lower() if text.isascii() else _fold(text)
    if folded.isascii():
        return _ASCII_WORD.findall(folded)  # What `_WORD` finds takes several times as long.
    terms: list[str] = []
    for word in _WORD.findall(folded):
        if word.isascii():
            terms.append(word)
        elif UNSPACED.match(word):
            terms += [*word, *_pairs(word)]
        elif _KOREAN.match(word):
            terms += _pairs(word) or [word]
        else:
            terms.append(word)
    return terms


def _fold(text: str) -> str:
    bare: str = _SILENT.sub("", unicodedata.normalize("NFKD", stream_safe(_PRINTED.sub(" ", text))))
    if bare.isascii():
        return bare.lower()
    return unicodedata.normalize("NFC", bare).casefold().translate(STROKES)


def _pairs(word: str) -> list[str]:
    return [word[at : at + 2] for at in range(len(word) - 1)]
