"""Pages of a PDF file as one text: without their edges, and with words and sentences joined."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import regex

from ras_flow.documents.blocks import ITEM, unwrapped
from ras_flow.documents.pdf_marks import heading_at

_END = "\f"
"""Between two pages."""
_CUT_WORD = re.compile(r"(?<!\w)(\w++)(?:-| ?[\xad‐])[ \t]*\n(\f?)[ \t]*(\w++)([^\w\s]*)")
_CUT_SENTENCE = regex.compile(r"(?<=[\w,;])[ \t]*\n\f\s*+(\p{Ll}[^\f]{0,400}?[.!?…](?=\s|\Z))")
_SENTENCE_GOES_ON = regex.compile(r"(?<=[^\n]{30}[^.:;!?\n])\n(?=\p{Ll}[^.)])")
_HYPHENS = ("-", "\xad", "‐")
_EDGE_LINES = 3
"""Lines at the top and at the bottom of a page that other pages may have, too."""
_REPEATED = 0.4
"""Share of the pages at whose edge a line stands; left and right pages may differ."""


def joined(texts: Sequence[str], headings: Sequence[Mapping[str, int]]) -> list[str]:
    """Return the texts of pages; words and sentences that go over two stand on the first, whole.

    Headings keep lines of their own. Page numbers are left out; other lines at the edges of pages
    are kept once, on the first page.
    """
    pages = [
        [line.rstrip() for line in text.replace(_END, "\n").strip("\n").split("\n")]
        for text in texts
    ]
    edges = [line for top in (True, False) for line in _without_edge(pages, top)]
    whole = f"\n{_END}".join(map(_unwrapped, pages, headings))
    whole = _CUT_SENTENCE.sub(rf"\n\1\n{_END}", _rejoined(whole))
    first, *rest = _SENTENCE_GOES_ON.sub(" ", whole).split(_END)
    return ["\n".join([*edges, first]), *rest]


def _unwrapped(lines: Sequence[str], headings: Mapping[str, int]) -> str:
    """Join lines that were broken for their width; parted words, headings and items stay."""
    kept = {
        at
        for at, (last, line) in enumerate(pairwise(lines), start=1)
        if last.endswith(_HYPHENS) or ITEM.match(line)
    }
    for at in range(len(lines)):
        if length := heading_at(lines, at, headings)[0]:
            kept |= {at, at + length}
    return unwrapped(lines, kept)


def _without_edge(pages: list[list[str]], top: bool) -> list[str]:
    """Take the lines that many pages have in common off their tops or bottoms."""
    at = 0 if top else -1
    taken: list[str] = []
    for _ in range(_EDGE_LINES):
        long = {number: lines for number, lines in enumerate(pages, 1) if len(lines) > 1}
        shown = {number: lines[at].strip() for number, lines in long.items()}
        masked = {number: _masked(number, line) for number, line in shown.items()}
        count = Counter(masked.values())
        numbered = len(shown) > 1 and all(_is_number(*one) for one in shown.items())
        enough = max(2, _REPEATED * len(pages))
        found = [number for number in shown if numbered or count[masked[number]] >= enough]
        if not found:
            break
        if not numbered:
            taken += {masked[number]: shown[number] for number in reversed(found)}.values()
        for number in found:
            del long[number][at]
    return [line for line in taken if line]


def _masked(number: int, line: str) -> str:
    """Return a line without its page's number."""
    return re.sub(rf"\b{number}\b", "#", line)


def _is_number(number: int, line: str) -> bool:
    """Tell whether a line is a page's number, such as "Page 3 of 10" or "- 3 -"."""
    return re.fullmatch(rf"\W*(?:\w+\W+)?0*{number}(?:\W+(?:\w+\W+)?\d+)?\W*", line) is not None


def _rejoined(text: str) -> str:
    """Join the words that lines part. A hyphen stays where it may be the word's own.

    It goes if the second half is not a word elsewhere in the text, or the whole is.
    """
    known = set(re.findall(r"\w+", _CUT_WORD.sub(" ", text).casefold()))

    def join(cut: re.Match[str]) -> str:
        first, page, second, mark = cut.groups()
        rest = second.casefold()
        whole = second[0].islower() and (rest not in known or first.casefold() + rest in known)
        return f"{first}{'' if whole else '-'}{second}{mark}" + (f"\n{page}" if page else "")

    return _CUT_WORD.sub(join, text)
