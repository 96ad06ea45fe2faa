"""Tables of Markdown, as model cards and reports have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """Write a table; a list in a cell is written with commas."""
    return "\n".join(map(_line, [header, ["---"] * len(header), *rows]))


def _line(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return " ".join(text.replace("|", r"\|").split())
