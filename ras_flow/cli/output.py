"""JSON on standard output, the same from every command."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def print_json(value: Any) -> None:
    """Print a value as one line of JSON, without characters that drive a terminal."""
    from ras_flow.runs.export.escapes import json_text

    # Characters that the stream lacks would be escaped as Python does, which is no JSON.
    unicode = sys.stdout.encoding.lower().replace("-", "") == "utf8"
    typer.echo(json_text(value, ascii=not unicode))
