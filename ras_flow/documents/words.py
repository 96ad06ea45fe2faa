"""How long texts are, and how long ones are cut."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil

from ras_flow.formats.tokens import UNSPACED

SHORT_LEAD = 30
"""Words of the longest line that is repeated before what it leads."""
_LONGEST_WORD = 24
_CHARACTERS_A_WORD = 2


def count_words(text: str) -> int:
    """Return the length of a text.

    Two characters count as a word in scripts written without spaces (Chinese, Japanese, Thai) and
    in runs of more than 24 characters.
    """
    return sum(map(_size, text.split()))


def items_above(items: Iterable[str | None]) -> tuple[str, ...]:
    """Return the innermost two of the items around a block that are short enough to repeat."""
    return tuple(one for one in items if one and count_words(one) <= SHORT_LEAD)[-2:]


def cut(sentence: str, max_words: int) -> Iterator[tuple[str, str, int]]:
    """Yield pieces of a sentence: the space before each, its text and length."""
    words: list[str] = []
    size = 0
    before = ""
    for space, word, more in _short_words(sentence, max_words):
        if words and size + more > max_words:
            yield before, " ".join(words), size
            words, size, before = [], 0, space
        words.append(word)
        size += more
    if words:
        yield before, " ".join(words), size


def _size(word: str) -> int:
    if len(word) > _LONGEST_WORD:
        return ceil(len(word) / _CHARACTERS_A_WORD)
    if word.isascii():
        return 1
    return max(1, ceil(len(UNSPACED.findall(word)) / _CHARACTERS_A_WORD))


def _short_words(sentence: str, max_words: int) -> Iterator[tuple[str, str, int]]:
    """Yield the words of a sentence: the space before each, and its length; long ones in pieces."""
    step = max_words * _CHARACTERS_A_WORD
    for word in sentence.split():
        size = _size(word)
        if size <= max_words:
            yield " ", word, size
        else:
            for start in range(0, len(word), step):
                piece = word[start : start + step]
                yield "" if start else " ", piece, _size(piece)
