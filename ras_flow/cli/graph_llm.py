"""ras-flow train graph-llm: train the planner and answerer, and measure it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ras_flow.cli.options import path_argument, path_option
from ras_flow.cli.output import UNFINISHED, AsJson, log, print_json, print_table
from ras_flow.formats.text import plain

if TYPE_CHECKING:
    from ras_flow.training.graph_llm.scores import Measures
    from ras_flow.training.run import Progress

Config = Annotated[Path, path_argument("CONFIG", "Settings, a TOML file.")]
Seconds = Annotated[
    float | None,
    typer.Option(
        "--minutes",
        callback=lambda minutes: minutes and 60 * minutes,
        help="Stop in time (exit code 75); the same command goes on.",
    ),
]
Steps = Annotated[int | None, typer.Option(min=1, help="Stop after this many steps at the latest.")]


def graph_llm(
    config: Config,
    output: Annotated[
        Path | None, path_argument("[OUTPUT]", "Folder to write; by default named like CONFIG.")
    ] = None,
    data: Annotated[Path, path_option("Folder with the data sets.")] = Path(),
    seconds: Seconds = None,
    steps: Steps = None,
    records: Annotated[
        int | None, typer.Option(min=1, help="Train on, or measure, only this many records.")
    ] = None,
    base: Annotated[str | None, typer.Option(help="Overrides the settings' base model.")] = None,
    seed: Annotated[int | None, typer.Option(help="Overrides the settings' seed.")] = None,
    no_graph: Annotated[
        bool, typer.Option("--no-graph", help="Ablation: without graph encoder.")
    ] = False,
    no_lora: Annotated[
        bool, typer.Option("--no-lora", help="Ablation: train only graph encoder and projector.")
    ] = False,
    task: Annotated[
        str | None, typer.Option(help="Ablation: plan or answer, a model for one task.")
    ] = None,
    shuffle_graphs: Annotated[
        bool, typer.Option("--shuffle-graphs", help="Control: each record gets another's graph.")
    ] = False,
    measured: Annotated[
        str | None,
        typer.Option(
            "--evaluate",
            help="Measure this trained folder, checkpoint, or model by name, instead of training.",
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="What to measure on: dev or test.")] = "dev",
    index: Annotated[
        Path | None,
        path_option("With --evaluate: index in which subqueries should find the next passage."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Train the Graph LLM: plans and answers in, a folder for `local:FOLDER` out."""
    from ras_flow.errors import ConfigurationError
    from ras_flow.support.validation import read_toml
    from ras_flow.training.graph_llm.config import TrainingConfig
    from ras_flow.training.graph_llm.evaluate import evaluate
    from ras_flow.training.graph_llm.trained import WEIGHTS
    from ras_flow.training.graph_llm.training import train_graph_llm

    without = [name for name, out in (("graph", no_graph), ("lora", no_lora)) if out]
    if measured is None and index is not None:
        raise ConfigurationError("--index needs --evaluate: name the model to measure.")
    if measured is not None and without and not (Path(measured) / WEIGHTS).is_file():
        raise ConfigurationError(
            f"--no-graph and --no-lora are for training, but {measured} is already trained. Leave "
            "them out, or name a checkpoint of a run that began with them."
        )
    settings = read_toml(config, TrainingConfig)
    model = {
        "base": base,
        "without": (*settings.model.without, *without) if without else None,
        "task": task,
        "graphs": "shuffled" if shuffle_graphs else None,
    }
    settings = settings.override(
        {
            "model": settings.model.override(given(model)),
            "optimizer": settings.optimizer.override(given({"steps": steps, "seed": seed})),
            "data": settings.data.override(given({"most": None if measured else records})),
        }
    )
    if measured is not None:
        measures = evaluate(
            settings, measured, data=data, split=split, most=records, index=index, log=log
        )
        _show(measures, as_json)
        return
    folder = output or Path(config.stem)
    tell(train_graph_llm(settings, folder, data=data, seconds=seconds, log=log), folder)


def tell(progress: Progress, folder: Path) -> None:
    """Tell where a training is: its folder, or that it can go on."""
    if not progress.finished:
        log(f"stopped at step {progress.step} of {progress.steps}; run it again to go on")
        raise typer.Exit(UNFINISHED)
    typer.echo(str(folder))


def given(options: dict[str, Any]) -> dict[str, Any]:
    """Leave out the options that the command line does not name."""
    return {name: value for name, value in options.items() if value is not None}


def _show(measures: Measures, as_json: bool) -> None:
    record = measures.as_record()
    if as_json:
        print_json(record)
        return
    titles = {
        "plan": "plans: right label; subqueries after the first compared",
        "answer": "answers: exact match; F1 of their words",
    }
    columns = ("records", "right", "unusable", "f1", "f1_of", "exact")
    for task, title in titles.items():
        if sources := record.get(task):
            rows = [
                [
                    plain(source),
                    *("-" if (s := scores[name]) is None else str(s) for name in columns),
                ]
                for source, scores in sources.items()
            ]
            print_table(["source", *columns], rows, title=title)
            for pair, count in sources["all"]["labels"].items():
                typer.echo(f"{pair}: {count}")
    if found := record.get("next_passage"):
        typer.echo(
            f"next gold passage among the first 5 for {found['plans']} plans: {found['by_model']} "
            f"by the model's subqueries, {found['by_target']} by the targets'"
        )
