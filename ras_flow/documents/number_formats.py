"""Numbers as spreadsheet programs show them: with their percent sign, currency or unit."""

from __future__ import annotations

import math
import re

_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"'
    r"|\[\$(?P<currency>[^\]-]*)[^\]]*\]"
    r"|\[[^\]]*\]|[_*]."  # Colours, conditions; room and fillings.
    r"|\\(?P<escaped>.)"
    r"|(?P<digits>[0#?][0#?.,]*)"
    r"|(?P<plain>[%€$£¥₹ ])"
    r"|(?P<other>.)",
    re.DOTALL,
)


def shown_number(number: float, pattern: str) -> str:
    """Write a number by an Excel number format, as far as it has signs and decimals."""
    if not math.isfinite(number):
        return ""
    sections = pattern.split(";")
    section = sections[1] if number < 0 and len(sections) > 1 else sections[0]
    before = after = digits = ""
    for token in _TOKEN.finditer(section):
        if token["other"]:  # Fractions, exponents, texts: as it is.
            return _plain(number)
        if token["digits"]:
            digits = digits or token["digits"]
        elif digits:
            after += _literal(token)
        else:
            before += _literal(token)
    if not digits:
        return _plain(number)
    # A comma after the digits divides by a thousand, whose unit is in the format.
    scaled = number / 1000 ** (len(digits) - len(digits.rstrip(",")))
    scaled *= 100 ** (before + after).count("%")
    decimals = digits.rstrip(",").partition(".")[2]
    text = f"{abs(scaled) if len(sections) > 1 else scaled:.{len(decimals)}f}"
    if "." in text and "#" in decimals:
        text = text.rstrip("0").rstrip(".")
    sign = "-" if number < 0 and len(sections) > 1 and not set("-(") & set(before) else ""
    return f"{sign}{before}{text}{after}".strip()


def _literal(token: re.Match[str]) -> str:
    return next((part for part in token.groups() if part), "")


def _plain(number: float) -> str:
    return f"{number:.15g}" if isinstance(number, float) else str(number)
