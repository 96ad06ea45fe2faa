"""Documents to passages of about 100 words that end at sentence ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import ceil

from ras_flow.formats.sentences import sentence_spans
from ras_flow.formats.tokens import UNSPACED
from ras_flow.state.schema import Passage, make_passage

MAX_WORDS = 100
MAX_TITLE = 300
"""Characters of a title that passages carry: a page that is one long heading would be in each."""
_LONGEST_WORD = 24
_CHARACTERS_A_WORD = 2
_PARAGRAPH = re.compile(r"\n\s*\n")


def split_text(text: str, max_words: int = MAX_WORDS) -> list[str]:
    """Split a text into passages.

    A text of up to ``max_words`` is one passage. Of a longer one, whole sentences are packed until
    the next would exceed ``max_words``; a sentence longer than that is cut between words. Two
    characters count as a word in scripts written without spaces (Chinese, Japanese, Thai) and in
    runs of more than 24 characters, which are cut between characters where they must be. A short
    rest joins the passage before it.
    """
    every = text.split()
    if 0 < len(every) <= max_words and sum(map(_size, every)) <= max_words:
        return [" ".join(every)]  # To find its sentences would take most of a build's time.
    pieces: list[list[str]] = []
    sizes: list[int] = []
    for sentence in sentences(text):
        for words, size in _cut(sentence, max_words):
            if sizes and sizes[-1] + size <= max_words:
                pieces[-1].append(words)
                sizes[-1] += size
            else:
                pieces.append([words])
                sizes.append(size)
    if len(pieces) > 1 and sizes[-1] * 4 <= max_words and sum(sizes[-2:]) * 4 <= max_words * 5:
        pieces[-2].extend(pieces.pop())
    return [" ".join(piece) for piece in pieces]


def split_document(
    title: str, text: str, source: str | None = None, max_words: int = MAX_WORDS
) -> list[Passage]:
    """Split a document into passages that carry its title."""
    if len(title) > MAX_TITLE:
        title = f"{title[:MAX_TITLE].rstrip()}…"
    passages: dict[str, Passage] = {}
    for piece in split_text(text, max_words):
        passage = make_passage(title, piece)
        if source is not None:
            passage["source"] = source
        passages.setdefault(passage["id"], passage)
    return list(passages.values())


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, with single spaces between words."""
    for paragraph in _PARAGRAPH.split(text):
        words = " ".join(paragraph.split())
        for start, end in sentence_spans(words):
            yield words[start:end]


def _size(word: str) -> int:
    if len(word) > _LONGEST_WORD:
        return ceil(len(word) / _CHARACTERS_A_WORD)
    if word.isascii():
        return 1
    return max(1, ceil(len(UNSPACED.findall(word)) / _CHARACTERS_A_WORD))


def _cut(sentence: str, max_words: int) -> Iterator[tuple[str, int]]:
    """Yield pieces of a sentence with their sizes, each at most ``max_words``."""
    words: list[str] = []
    size = 0
    for word, more in _short_words(sentence, max_words):
        if words and size + more > max_words:
            yield " ".join(words), size
            words, size = [], 0
        words.append(word)
        size += more
    if words:
        yield " ".join(words), size


def _short_words(sentence: str, max_words: int) -> Iterator[tuple[str, int]]:
    """Yield the words of a sentence with their sizes; what is longer than a passage, in pieces."""
    step = max_words * _CHARACTERS_A_WORD
    for word in sentence.split():
        size = _size(word)
        if size <= max_words:
            yield word, size
        else:
            pieces = (word[start : start + step] for start in range(0, len(word), step))
            yield from ((piece, _size(piece)) for piece in pieces)
