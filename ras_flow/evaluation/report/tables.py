"""A table of the report, and how its numbers are written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from ras_flow.evaluation.statistics import Interval
from ras_flow.formats.text import plain

_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


@dataclass(frozen=True)
class Table:
    """A table: the first column holds names, the others numbers, or all hold text."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    text: bool = False

    def markdown(self) -> str:
        """Return it as Markdown; text of models and files stays text."""
        lines = [
            f"### {markdown_text(self.title)}",
            "",
            _line(self.header),
            "| --- |" + (" --- |" if self.text else " ---: |") * (len(self.header) - 1),
            *map(_line, self.rows),
        ]
        return "\n".join([*lines, "", markdown_text(self.note), ""] if self.note else [*lines, ""])


def markdown_text(text: str) -> str:
    """Return text that Markdown shows as it is, on one line; a terminal too."""
    return _MARKDOWN.sub(r"\\\1", plain(text))


def percent(value: float | None) -> str:
    """Write a share in per cent; nothing for None."""
    return "" if value is None else f"{100 * value:.1f}"


def mean_percent(values: Sequence[float]) -> str:
    """Write a mean in per cent; nothing where there are no values."""
    return percent(fmean(values) if values else None)


def interval(value: Interval, *, signed: bool = False) -> str:
    """Write a mean with its interval, in per cent."""
    sign = "+" if signed else ""
    mean, low, high = (format(100 * x, f"{sign}.1f") for x in (value.mean, value.low, value.high))
    return f"{mean} [{low}, {high}]"


def p_value(p: float, *, equals: str = "") -> str:
    """Write a p-value."""
    return f"{equals}{p:.3f}" if p >= 0.001 else "< 0.001"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(markdown_text, cells))} |"
