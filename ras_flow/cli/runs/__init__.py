"""ras-flow runs: see, replay, edit, compare and keep runs."""

from __future__ import annotations

import typer

from ras_flow.cli.runs.change import fork, replay, resume
from ras_flow.cli.runs.judge import diff, why
from ras_flow.cli.runs.keep import export, prune
from ras_flow.cli.runs.look import graph, list_runs, show
from ras_flow.cli.runs.view import view

app = typer.Typer(help="See, replay, edit, compare and keep runs.", no_args_is_help=True)
app.command("list")(list_runs)
for command in (show, graph, replay, diff, why, export, prune, view):
    app.command()(command)
# The edits of systems are options that only they know.
_open = app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
_open(fork)
_open(resume)
