"""All commands, and their exit codes."""

from __future__ import annotations

import errno
import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from ras_flow import __version__
from ras_flow.cli.ask import ask
from ras_flow.cli.data import app as data_app
from ras_flow.cli.evaluate import app as eval_app
from ras_flow.cli.export import export
from ras_flow.cli.index import app as index_app
from ras_flow.cli.kg import app as kg_app
from ras_flow.cli.output import INTERRUPTED, tell_interrupted
from ras_flow.cli.runs import app as runs_app
from ras_flow.cli.search import search
from ras_flow.cli.train import app as train_app
from ras_flow.cli.triples import app as triples_app
from ras_flow.errors import RasFlowError
from ras_flow.formats.text import plain

app = typer.Typer(
    name="ras-flow",
    help="Answer hard questions over documents, step by step, with a graph you can inspect.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
_DOCUMENTS, _MODELS = "Documents", "Models and measurements"
app.command()(ask)
app.add_typer(runs_app, name="runs")
app.add_typer(index_app, name="index", rich_help_panel=_DOCUMENTS)
app.command(rich_help_panel=_DOCUMENTS)(search)
app.add_typer(kg_app, name="kg", rich_help_panel=_DOCUMENTS)
app.add_typer(triples_app, name="triples", rich_help_panel=_DOCUMENTS)
app.add_typer(eval_app, name="eval", rich_help_panel=_MODELS)
app.add_typer(data_app, name="data", rich_help_panel=_MODELS)
app.add_typer(train_app, name="train", rich_help_panel=_MODELS)
app.command(rich_help_panel=_MODELS)(export)


def _tell_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ras-flow {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


_NO_OUTPUT = (errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG)
"""Errors of a closed pipe, a full disk and a closed terminal."""


def run(program: typer.Typer = app) -> None:
    """Run the command, and end the process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Not every terminal and pipe has all of Unicode.
            stream.reconfigure(errors="backslashreplace")
    if os.environ.get("COLUMNS") == "0":  # From terminals without a size.
        del os.environ["COLUMNS"]
    try:
        code = program(standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:  # What Typer makes of Ctrl-C.
            tell_interrupted()
        sys.exit(code)
    except typer.TyperException as error:
        said = error.format_message().replace("Value error, ", "", 1).rstrip(".")
        if said.startswith("Got unexpected extra argument"):
            said += ": put a text of several words in quotes"
        if said:  # A group without a command has shown its help instead.
            context = getattr(error, "ctx", None)
            said += "" if said.endswith("?") else "."
            said += f" See: {context.command_path if context else 'ras-flow'} --help"
        _fail(said, error.exit_code)
    except RasFlowError as error:
        _fail(str(error), 1)
    except OSError as error:
        # Those of files have a name.
        if error.errno not in _NO_OUTPUT or error.filename is not None:
            raise
        # Buffered output would fail again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _fail(f"Cannot write the output: {error.strerror}.", 1)


def _fail(message: str, code: int) -> None:
    if message:
        typer.echo(f"ras-flow: {plain(message)}", err=True)
    sys.exit(code)
