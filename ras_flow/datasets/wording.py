"""Spellings of data sets: references between steps, and text as tokenizers leave it."""

from __future__ import annotations

import re

_REFERENCE = re.compile(r"#(\d{1,9})")
_TREEBANK = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "``": '"',
    "''": '"',
    "--": "–",
}
_GAP = re.compile(r"\s+(?=[,.;:!?)\]]|'s\b)|(?<=[(\[])\s+")


def references(text: str) -> set[int]:
    """Return the steps, counted from 0, whose results a step names ("#1" is 0)."""
    return {int(number) - 1 for number in _REFERENCE.findall(text)}


def fill(text: str, results: dict[int, str]) -> str:
    """Replace "#1" by the result of step 0, and so on; unknown ones stay."""
    return _REFERENCE.sub(lambda match: results.get(int(match[1]) - 1, match[0]), text)


def untokenize(text: str) -> str:
    """Write a Penn Treebank text ("-LRB- born 1951 -RRB-") as people do."""
    for token, char in _TREEBANK.items():
        text = text.replace(token, char)
    return _GAP.sub("", " ".join(text.split()))
