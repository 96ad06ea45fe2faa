"""Where the sentences of a text are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nupunkt import sent_spans

Span = tuple[int, int]
"""The first and the last-plus-one character of a sentence in its text."""

# nupunkt's time grows with the square of the characters without a space between them.
_LONG_RUN = re.compile(r"\S{2001,}")
_LINE = re.compile(r"[^\n]+")
# Sentence ends of scripts that nupunkt, trained on English, does not know: 。！？, danda, Urdu
# full stop, Arabic question mark, Armenian, Ethiopic, Khmer and Burmese full stops.
_OTHER_ENDS = re.compile("(?<=[。！？｡।॥۔؟։።፧។။])(?![。！？｡।॥۔؟։።፧។။」』”’\"'）)])")


def sentence_spans(text: str) -> Iterator[Span]:
    """Yield where each sentence is, in any script; a line's end is a sentence's."""
    for line in _LINE.finditer(text):
        for start, end in english_spans(line[0]):
            first, last = start + line.start(), end + line.start()
            ends = [match.start() for match in _OTHER_ENDS.finditer(text, first, last)]
            for one, next in zip([first, *ends], [*ends, last], strict=True):
                yield from _stripped(text, one, next)


def english_spans(text: str) -> Iterator[Span]:
    """Yield where each sentence is, as :func:`sentence_spans`, but by English punctuation alone.

    More than 2,000 characters without a space are a sentence by themselves.
    """
    at = 0
    for run in _LONG_RUN.finditer(text):
        yield from _punkt_spans(text, at, run.start())
        yield run.span()
        at = run.end()
    yield from _punkt_spans(text, at, len(text))


def _punkt_spans(text: str, first: int, last: int) -> Iterator[Span]:
    for start, end in sent_spans(text[first:last]):
        yield from _stripped(text, first + start, first + end)


def _stripped(text: str, first: int, last: int) -> Iterator[Span]:
    piece = text[first:last]
    if stripped := piece.strip():
        start = first + len(piece) - len(piece.lstrip())
        yield start, start + len(stripped)
