"""What all commands share: printing, asking, exit codes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, TextIO

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ras_flow.errors import InputError

UNFINISHED = 75
"""Exit code of work that stopped early and can go on."""

INTERRUPTED = 130
"""Exit code after Ctrl-C."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def print_json(value: Any) -> None:
    """Print a value as one line of JSON, without characters that drive a terminal."""
    typer.echo(json_line(value, sys.stdout))


def json_line(value: Any, stream: TextIO) -> str:
    """Return a value as one line of JSON that the stream can encode."""
    from ras_flow.formats.escapes import json_text

    # Python would escape characters that the stream lacks, which is not valid JSON.
    unicode = stream.encoding.lower().replace("-", "") == "utf8"
    return json_text(value, ascii=not unicode)


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "", names: int = 1
) -> None:
    """Print a table, 160 wide outside a terminal; its first ``names`` columns are left-aligned."""
    table = Table(box=None, title=title or None, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number < names else "right")
    for row in rows:
        table.add_row(*map(Text, row))
    Console(width=None if Console().is_terminal else 160).print(table)


def log(line: str) -> None:
    """Print a line beside the output."""
    typer.echo(line, err=True)


def with_hint(error: Exception, hint: str) -> str:
    """Return an error's message, followed by a sentence on how to go on."""
    said = str(error)
    return f"{said}{'' if said.endswith(('.', '!', '?')) else '.'} {hint}"


def tell_interrupted(hint: str = "") -> None:
    """Say that Ctrl-C ended the command, once: ending what is at work may take seconds."""
    global _is_told
    if not _is_told:
        log(f"ras-flow: interrupted. {hint}".rstrip())
        _is_told = True


_is_told = False


def confirmed(what: str) -> bool:
    """Ask whether something may be deleted."""
    if not sys.stdin.isatty():
        raise InputError(f"Nothing was deleted: pass --yes to delete {what}.")
    try:
        return typer.confirm(f"Delete {what}?")
    except typer.Abort:
        return False
