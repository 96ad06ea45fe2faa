"""Words of any script, as BM25 counts them."""

from __future__ import annotations

import re
import unicodedata

import regex

from ras_flow.formats.text import stream_safe

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}ー\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
UNSPACED = regex.compile(f"[{_UNSPACED}]")
"""A character of a script that is written without spaces between words."""

_ASCII_WORD = re.compile(r"[a-z](?:\+\+|#)(?![a-z0-9])|[a-z0-9]+")
_PRINTED = re.compile("[–—‘’“”]")
"""Marks that are all that keeps most English texts from being ASCII."""
_WORD = regex.compile(
    rf"(?<!\w)\p{{L}}(?:\+\+|\#)(?!\w)|[[\w\p{{M}}]--[_\p{{Hangul}}{_UNSPACED}]]+|\p{{Hangul}}+"
    rf"|[{_UNSPACED}]+|\p{{RI}}{{2}}|\p{{Extended_Pictographic}}",
    flags=regex.VERSION1,
)
"""A word, "C++" and "C#" among them, or a picture."""
_PART_NUMBER = regex.compile(r"(?<![\w-])(?:\p{L}+-[\p{L}-]*\d|\d+-[\d-]*\p{L})(?:[\w-]*\w)?")
_CAMEL_CASE = re.compile(r"\b[a-z]+(?:[A-Z][a-z0-9]+)+\b")
_HUMP = re.compile("(?=[A-Z])")
_KOREAN = regex.compile(r"\p{Hangul}")
POINTS = r"\u0300\u0301\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0655\u0670"
"""Characters, for a regular expression, that many texts leave out: the stress of Cyrillic words,
the points of Hebrew and Arabic ones, the hamza of "أحمد", and the stroke that stretches a word."""
_SILENT = regex.compile(rf"(?<=[\p{{Latin}}\p{{Greek}}])\p{{Mn}}+|[{POINTS}\ufe00-\ufe0f]|\p{{Cf}}")
"""Accents, points, and what is not seen: soft hyphens, joiners and non-joiners."""
STROKES = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ı": "i", "þ": "th", "æ": "ae", "œ": "oe"}
)
"""Latin letters that Unicode has no accent for."""
_SPELLED_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
_UMLAUT = re.compile(r"\b\w*[äöüøåÄÖÜØÅ]\w*")
_FOREIGN_DIGIT = regex.compile(r"[\p{Nd}--[0-9]]", flags=regex.VERSION1)
_ALIKE = str.maketrans("ёЁٱةہھىیک٫٬", "еЕاهههييك.,")
"""Letters that are written for each other: Russian ё and е; those of Arabic and Persian as in
Lucene's normalisers."""


def tokenize(text: str) -> list[str]:
    """Return the terms that a text is searched by: its words, and these as others write them.

    "Müller" is found by "Mueller", "PX-5" by "PX5", and "getUserName" by "user name".
    """
    return words_of(text) + _variants(text)


def words_of(text: str) -> list[str]:
    """Split a text into words as search compares them.

    Case, width, the accents of Latin and Greek letters and Latin letters of single languages are
    folded ("Beyoncé" finds "beyonce", "Łódź" finds "lodz"). So are marks that many texts in
    Cyrillic, Hebrew or Arabic letters leave out ("Достое́вский" is found by "достоевский"), letters
    written for each other and the digits of all scripts. "C++" and "C#" are words. Scripts written
    without spaces become single characters and pairs of neighbours, since their words cannot be
    told apart without a dictionary; Korean words, whose endings vary, become pairs. Nothing is
    stemmed and no word is left out: on our development questions neither made retrieval better.
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


def _variants(text: str) -> list[str]:
    """Return what else the words of a text may be written as."""
    found = [part for name in _CAMEL_CASE.findall(text) for part in _HUMP.split(name)]
    if "-" in text:
        found += [number.replace("-", "") for number in _PART_NUMBER.findall(text)]
    if not text.isascii():
        found += map(_spelled_out, _UMLAUT.findall(unicodedata.normalize("NFC", stream_safe(text))))
    return [term for part in found for term in words_of(part)]


def _spelled_out(word: str) -> str:
    return word.lower().translate(_SPELLED_OUT)


def _fold(text: str) -> str:
    plain = unicodedata.normalize("NFKD", stream_safe(_PRINTED.sub(" ", text)))
    bare: str = _SILENT.sub("", plain)
    if bare.isascii():
        return bare.lower()
    return written_alike(unicodedata.normalize("NFC", bare).casefold().translate(STROKES))


def written_alike(text: str) -> str:
    """Write letters that are written for each other, and the digits of all scripts, in one way."""
    alike: str = _FOREIGN_DIGIT.sub(
        lambda digit: str(unicodedata.decimal(digit[0], digit[0])), text
    )
    return alike.translate(_ALIKE)


def _pairs(word: str) -> list[str]:
    return [word[at : at + 2] for at in range(len(word) - 1)]
