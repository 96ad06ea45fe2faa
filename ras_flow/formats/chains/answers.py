"""Answers that a model names on lines of their own: ``ans: Engine`` (ReG, figure 7)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ras_flow.formats.answer import clean_answer, says_unknown
from ras_flow.formats.chains.writing import name
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.reply import spoken
from ras_flow.formats.text import has_word, plain

_LINE = re.compile(
    r"^(?:[*_>#`-]|[^\S\n])*+(?:\d+[.)]\s*)?(?:\**|_*)(?:ans|answers?)\**\s*[:：]\s*(.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_NONE = re.compile(
    r"\W*(?:none|null|nothing|not (?:available|found|known|given)|unknown|n/a)\W*", re.IGNORECASE
)


class Matched(NamedTuple):
    """Answers in the graph's words, and which of them are no entity's name."""

    answers: list[str]
    unknown: list[str]


def read_answers(text: str) -> list[str] | None:
    """Return the answers that a reply names, each once; None if no line has this form.

    A line that says nothing was found does not count, so the list may be empty.
    """
    lines = _LINE.findall(spoken(text))
    return _different(filter(None, map(_answer, lines))) if lines else None


def last_line(text: str) -> str:
    """Return the last line of a reply that has a word; empty where it says "none"."""
    lines = [line for line in spoken(text).splitlines() if has_word(line)]
    return _answer(lines[-1]) if lines else ""


def match_answers(answers: Sequence[str], names: Iterable[str]) -> Matched:
    """Write answers as the graph spells them; one of several names with ";" between is several."""
    known: dict[str, str] = {}
    for entity in names:
        known.setdefault(normalize_name(name(entity)), entity)
    matched: list[str] = []
    unknown: list[str] = []
    for answer in answers:
        parts = [answer]
        if normalize_name(answer) not in known:
            split = [part.strip() for part in answer.split(";")]
            if all(normalize_name(part) in known for part in split):
                parts = split
            else:
                unknown.append(answer)
        matched += (known.get(normalize_name(part), part) for part in parts)
    return Matched(_different(matched), unknown)


def _answer(line: str) -> str:
    said = plain(clean_answer(line)).strip("*_` ")
    return "" if _NONE.fullmatch(said) or says_unknown(said) or not has_word(said) else said


def _different(answers: Iterable[str]) -> list[str]:
    first: dict[str, str] = {}
    for answer in answers:
        first.setdefault(normalize_name(answer), answer)
    return list(first.values())
