"""JSON on standard output, the same from every command."""

from __future__ import annotations

import sys
from typing import Annotated, Any, TextIO

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def print_json(value: Any) -> None:
    """Print a value as one line of JSON, without characters that drive a terminal."""
    typer.echo(json_line(value, sys.stdout))


def json_line(value: Any, stream: TextIO) -> str:
    """Return a value as :func:`print_json` prints it.

    Args:
        value: Anything JSON-like.
        stream: Where it will be written.

    Returns:
        JSON text without a line end.
    """
    from ras_flow.runs.export.escapes import json_text

    # Characters that the stream lacks would be escaped as Python does, which is no JSON.
    unicode = stream.encoding.lower().replace("-", "") == "utf8"
    return json_text(value, ascii=not unicode)
