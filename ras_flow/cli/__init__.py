"""The command line: arguments in, library call, output. Heavy imports happen inside commands."""

from __future__ import annotations

import sys
from io import TextIOWrapper

import typer

from ras_flow.cli.ask import ask
from ras_flow.cli.index import app as index_app
from ras_flow.cli.runs import app as runs_app
from ras_flow.errors import RasFlowError

app = typer.Typer(
    name="ras-flow",
    help="Answer hard questions over documents, step by step, with a graph you can inspect.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
app.command()(ask)
app.add_typer(index_app, name="index")
app.add_typer(runs_app, name="runs")


def main() -> None:
    """Run the command line; an error of ours is one line on standard error and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Not every terminal and pipe has all of Unicode.
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except RasFlowError as error:
        from ras_flow.cli.render import plain

        typer.echo(f"ras-flow: {plain(str(error))}", err=True)
        sys.exit(1)
