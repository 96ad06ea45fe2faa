"""Dates and numbers are kept whole: "May 4" of a text's "May 4, 1931" is a date that was cut."""

from __future__ import annotations

import re
from functools import lru_cache

_MONTHS = (
    "January February March April May June July August September October November December "
    "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec"
)
_DAY, _YEAR = r"\d{1,2}(?:st|nd|rd|th)?", r"\d{3,4}"
_WHOLE = re.compile(
    rf"(?<![\w.,])(?:{_DAY} (?:of )?[^\W\d_]+\.?,? {_YEAR}"
    rf"|(?:{'|'.join(_MONTHS.split())})\.? {_DAY},? {_YEAR}"
    r"|\d+(?:[.,]\d+)+)(?![\w])"
)
"""A date with day, month and year, the month first or between them; or a number that has marks."""

_GAP = re.compile(r"[^\w]+")
_ENDS = " ,."


def ends_of(value: str) -> set[str]:
    """Return the beginnings and ends of a date or of a number with marks.

    Args:
        value: Such as "May 4, 1931" or "23,000".

    Returns:
        What can be cut off at its gaps: "May", "May 4", "1931" and "4, 1931"; nothing for a value
        that is neither.
    """
    if not _WHOLE.fullmatch(value):
        return set()
    gaps = list(_GAP.finditer(value))
    return {value[: gap.start()] for gap in gaps} | {value[gap.end() :] for gap in gaps}


def completed(value: str, text: str) -> str:
    """Return the date or number of a text that a value was cut from.

    Args:
        value: An object as it was extracted.
        text: The text.

    Returns:
        The date or number that begins or ends with the value, where the text has exactly one such
        and does not have the value by itself; else the value. A day, a month or a year alone is no
        cut date.
    """
    cut = value.strip(_ENDS)
    found = [whole for whole in _by_end(text).get(cut, ()) if (" " in cut) == (" " in whole)]
    if len(set(found)) != 1:
        return value
    standing = re.findall(rf"(?<!\w){re.escape(cut)}(?!\w)", text)
    return found[0] if len(standing) == len(found) else value


@lru_cache(maxsize=256)
def _by_end(text: str) -> dict[str, list[str]]:
    """Return the dates and numbers of a text, as often as it has them, by their ends."""
    found: dict[str, list[str]] = {}
    for whole in _WHOLE.findall(text):
        for end in ends_of(whole):
            found.setdefault(end, []).append(whole)
    return found
