"""ras-flow eval: systems side by side on the same questions."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from ras_flow.cli.options import EngineOption, opened_engine, path_argument, path_option
from ras_flow.cli.output import (
    UNFINISHED,
    AsJson,
    print_json,
    print_table,
    tell_interrupted,
)
from ras_flow.errors import InputError, RunError
from ras_flow.formats.text import plain

if TYPE_CHECKING:
    from ras_flow.evaluation.compare import Comparison, Flip
    from ras_flow.evaluation.rows import Row
    from ras_flow.evaluation.runner import Standing


class _Group(TyperGroup):
    """Takes ``eval CONFIG …`` for ``eval run CONFIG …``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "--help"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_Group,
    help="Ask systems the same questions and compare them: ras-flow eval CONFIG --out FOLDER.",
    no_args_is_help=True,
)

Folder = Annotated[Path, path_argument("FOLDER", "Folder of an evaluation.")]


@app.command()
def run(
    config: Annotated[Path, path_argument("CONFIG", "TOML file that says what to compare.")],
    out: Annotated[Path, path_option("Folder to write; the same one goes on.", metavar="FOLDER")],
    retry: Annotated[bool, typer.Option("--retry", help="Ask failed questions again.")] = False,
    engine: EngineOption = "local",
    as_json: AsJson = False,
) -> None:
    """Run or continue an evaluation; no question is asked twice."""
    from ras_flow.cli.progress import shown_progress
    from ras_flow.cluster.parts import parts_on
    from ras_flow.evaluation.config import read_config
    from ras_flow.evaluation.runner import evaluate

    settings = read_config(config)
    console = Console(stderr=True, quiet=as_json)
    try:
        with (
            opened_engine(engine, most=settings.limits.at_once) as where,
            shown_progress(console) as show,
        ):

            def progress(standings: Sequence[Standing]) -> None:
                done = sum(len(one.rows) for one in standings)
                show("questions", done, sum(one.total for one in standings))

            parts = parts_on(where)
            work = evaluate(settings, out, parts=parts, retry=retry, progress=progress)
            report = asyncio.run(work)
    except KeyboardInterrupt:
        tell_interrupted("Go on with the same command.")
        raise
    if as_json:
        print_json([_record(one) for one in report.standings])
    else:
        _tabulate(report.standings)
        typer.echo(str(out / "report.md"))
    if report.ceiling:
        typer.echo(f"ras-flow: {report.ceiling} Raise it and go on.", err=True)
        raise typer.Exit(UNFINISHED)


@app.command()
def report(folder: Folder) -> None:
    """Write the report again, from the answers so far."""
    from ras_flow.evaluation.config import read_config
    from ras_flow.evaluation.report import write_report

    found, questions = _answers(folder)
    write_report(read_config(folder / "config.toml"), found, folder, questions=questions)
    typer.echo(str(folder / "report.md"))


@app.command()
def table(
    runs: Annotated[
        list[Path], path_argument("RUN", "Folders of evaluations, or files that --rows wrote.")
    ],
    against: Annotated[str, typer.Option(help="System that all are compared with.")] = "ras",
    rows: Annotated[
        Path | None,
        path_option(
            "Write scores, costs and answers to this file (.jsonl.gz), to make the table from.",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Print systems by benchmarks, with distances from one of them, as Markdown."""
    from ras_flow.evaluation.report.overview import overview_table
    from ras_flow.evaluation.rows import export_rows, exported_rows

    found = [
        row for run in runs for row in (exported_rows(run) if run.is_file() else _answers(run)[0])
    ]
    if rows:
        export_rows(rows, found)
    typer.echo(overview_table(found, against, seed=0).markdown())


@app.command()
def compare(
    first: Annotated[
        str, typer.Argument(metavar="A", help="A folder, or FOLDER:SYSTEM for one system of it.")
    ],
    second: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    as_json: AsJson = False,
) -> None:
    """Show which questions flipped between two evaluations or systems, and why."""
    from ras_flow.evaluation.compare import compare as compare_rows

    found = compare_rows(_chosen(first), _chosen(second))
    if not found:
        raise InputError(
            f"{first} and {second} share no system with the same questions. Name one system of "
            "each: FOLDER:SYSTEM."
        )
    if as_json:
        print_json([asdict(one) for one in found])
        return
    for one in found:
        _show(one)


@app.command()
def names() -> None:
    """List the systems and benchmarks that a config can name."""
    from ras_flow.evaluation.benchmarks import FORMS
    from ras_flow.evaluation.loading import SHIPPED
    from ras_flow.evaluation.systems import SYSTEMS

    for system in SYSTEMS.values():
        typer.echo(f"{system.kind:<18}{system.about}")
    typer.echo(f"\nbenchmarks: {', '.join([*FORMS, *SHIPPED])}")


def _answers(folder: Path) -> tuple[list[Row], dict[str, int]]:
    """Return the rows of a folder, and how many questions of each benchmark are asked."""
    from ras_flow.evaluation.rows import open_rows

    with open_rows(folder) as rows:
        found, questions = rows.current(), rows.asked()
    if not found:
        raise RunError(
            f"The evaluation in {folder} has no answers yet. Go on with: ras-flow eval CONFIG "
            f"--out {folder}"
        )
    return found, questions


def _chosen(address: str) -> list[Row]:
    """Return the rows of a folder, or those of one of its systems."""
    folder, system = Path(address), ""
    if not os.path.exists(folder) and ":" in address:
        name, _, system = address.rpartition(":")
        folder = Path(name)
    rows, _ = _answers(folder)
    chosen = [row for row in rows if system in ("", row.system)]
    if not chosen:
        known = ", ".join(dict.fromkeys(row.system for row in rows))
        raise InputError(f"{folder} has no system {system!r}. It has: {known}.")
    return chosen


def _tabulate(standings: Sequence[Standing]) -> None:
    rows = []
    for one in standings:
        record = _record(one)
        score = "" if one.score is None else f"{one.metric} {100 * one.score:.1f}"
        cells = [one.benchmark, one.system, f"{record['done']}/{one.total}", str(record["failed"])]
        rows.append(
            [*cells, score, *(f"{record[name]:.{digits}f}" for name, digits in _DIGITS.items())]
        )
    columns = "benchmark system done failed score tokens seconds hops".split()
    print_table(columns, rows, names=2)


_DIGITS = {"tokens": 0, "seconds": 1, "hops": 1}


def _record(one: Standing) -> dict[str, Any]:
    """Return how far a system is; tokens, seconds and hops are means of a question."""
    outcomes = [row.outcome for row in one.rows]
    count = max(len(outcomes), 1)
    return {
        "benchmark": one.benchmark,
        "system": one.system,
        "questions": one.total,
        "done": len(outcomes),
        "failed": sum(bool(outcome.error) for outcome in outcomes),
        "metric": one.metric,
        "score": one.score,
        "tokens": sum(outcome.tokens for outcome in outcomes) / count,
        "seconds": sum(outcome.seconds for outcome in outcomes) / count,
        "hops": sum(len(outcome.hops) for outcome in outcomes) / count,
    }


def _show(one: Comparison) -> None:
    from ras_flow.evaluation.report.tables import interval, p_value

    gap = one.difference
    ahead = ""
    if gap:
        ahead = f"A less B: {interval(gap, signed=True)}, p {p_value(gap.p, equals='= ')}; "
    typer.echo(
        f"{one.benchmark}: A is {one.first}, B is {one.second}; {one.questions} questions. {ahead}"
        f"only A has {len(one.lost)} right, only B {len(one.gained)}."
    )
    for title, flips in (("only A is right", one.lost), ("only B is right", one.gained)):
        for flip in flips:
            typer.echo(f"\n{title}: {plain(flip.first.question)}  [{plain(flip.first.id)}]")
            for line in _lines(flip):
                typer.echo(f"  {plain(line)}")
    typer.echo("")


def _lines(flip: Flip) -> list[str]:
    wrong = flip.wrong
    sides = [
        f"{name} {row.outcome.answer!r} (run {row.run})"
        for name, row in (("A", flip.first), ("B", flip.second))
    ]
    return [
        f"gold {', '.join(map(repr, wrong.answers[:3]))}",
        *sides,
        f"why {wrong.error_class.replace('_', ' ')}: {wrong.why}",
        f"ways {flip.parted}",
    ]
