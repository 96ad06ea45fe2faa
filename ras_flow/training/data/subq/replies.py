"""Reading what models reply when HotpotQA-SUBQ is built. Total: no reply raises.

Each function returns what it read, and what is wrong with the reply: None where nothing is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ras_flow.formats.normalize import normalize_question
from ras_flow.formats.plan import parse_plan
from ras_flow.formats.text import scrub

_NAMED = re.compile(r"^(?:output|answer|texts?|numbers?)\s*:\s*", re.I)
_NONE = re.compile(r"\W*none\b", re.I)
_NUMBER = r"[\[(]?\d{1,9}[\])]?"
_NUMBERS = re.compile(rf"{_NUMBER}(?:\s*(?:,|;|and|&)\s*{_NUMBER})*\.?", re.I)


def read_numbers(text: str, *, count: int) -> tuple[list[int], str | None]:
    """Read which documents are needed."""
    line = _NAMED.sub("", _first_line(text))
    if _NONE.match(line):
        return [], None
    numbers = [int(n) for n in re.findall(r"\d+", line)] if _NUMBERS.fullmatch(line) else []
    if not numbers or any(not 1 <= n <= count for n in numbers):
        return [], f"Write numbers from 1 to {count}, separated by commas, or: none."
    return list(dict.fromkeys(numbers)), None


def read_subquery(text: str, *, earlier: Iterable[str]) -> tuple[str, str | None]:
    """Read a subquery."""
    plan = parse_plan(f"[SUBQ] {scrub(_first_line(text))}")
    if plan.label != "SUBQ":
        return "", "Write one short question."
    if normalize_question(plan.subquery) in map(normalize_question, earlier):
        return "", "This was asked before. Ask what the text adds."
    return plan.subquery, None


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.split("\n") if line.strip()), "")
