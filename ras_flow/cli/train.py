"""ras-flow train: train and measure models."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ras_flow.cli.graph_llm import Config, Seconds, Steps, given, graph_llm, tell
from ras_flow.cli.options import path_argument, path_option
from ras_flow.cli.output import log, print_table
from ras_flow.formats.text import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ras_flow.training.run import Progress
    from ras_flow.training.texts.config import TextTraining
    from ras_flow.training.triples.comparing import Figures

app = typer.Typer(help="Train and measure your own models.", no_args_is_help=True)
app.command()(graph_llm)

Data = Annotated[Path, path_option("Folder of the data files.")]


Output = Annotated[Path, path_argument("OUTPUT", "Folder to write.")]
Examples = Annotated[int | None, typer.Option(min=1, help="Train on only this many examples.")]


@app.command()
def triples(
    config: Config,
    output: Output,
    data: Data = Path(),
    seconds: Seconds = None,
    steps: Steps = None,
    examples: Examples = None,
) -> None:
    """Train an extractor: texts with triples in, a folder for `local:FOLDER` out."""
    from ras_flow.training.triples.config import TrainingConfig
    from ras_flow.training.triples.training import train

    _train(TrainingConfig, train, config, output, data, seconds, steps, examples)


@app.command()
def texts(
    config: Config,
    output: Output,
    data: Data = Path(),
    seconds: Seconds = None,
    steps: Steps = None,
    examples: Examples = None,
) -> None:
    """Train a model on rows of several tasks, as the one of `--system t2rag` was."""
    from ras_flow.training.texts.config import RowTraining
    from ras_flow.training.texts.rows import train_rows

    _train(RowTraining, train_rows, config, output, data, seconds, steps, examples)


def _train(
    kind: type[TextTraining],
    train: Callable[..., Progress],
    config: Path,
    output: Path,
    data: Path,
    seconds: float | None,
    steps: int | None,
    examples: int | None,
) -> None:
    from ras_flow.support.validation import read_toml

    settings = read_toml(config, kind)
    if steps is not None:
        settings = settings.override({"optimizer": settings.optimizer.override({"steps": steps})})
    tell(train(settings, output, data=data, seconds=seconds, examples=examples, log=log), output)


@app.command()
def retriever(
    config: Config,
    output: Output,
    data: Annotated[Path, path_option("Folder with the labels.")] = Path(),
    seconds: Seconds = None,
    steps: Steps = None,
    seed: Annotated[int | None, typer.Option(help="Overrides the settings' seed.")] = None,
    share: Annotated[
        float | None, typer.Option(help="Part of the training questions, such as 0.05.")
    ] = None,
) -> None:
    """Train a retriever of facts: labels in, a folder for `kg_retriever` `local:FOLDER` out."""
    from ras_flow.support.validation import read_toml
    from ras_flow.training.retriever.config import TrainingConfig
    from ras_flow.training.retriever.training import train_retriever

    settings = read_toml(config, TrainingConfig)
    changed: dict[str, dict[str, Any]] = {
        "optimizer": {"steps": steps, "seed": seed},
        "data": {"share": share},
    }
    settings = settings.override(
        {table: getattr(settings, table).override(given(some)) for table, some in changed.items()}
    )
    tell(train_retriever(settings, output, data=data, seconds=seconds, log=log), output)


@app.command()
def measure_triples(
    config: Config,
    folder: Annotated[Path, path_argument("FOLDER", "Folder that training wrote.")],
    data: Data = Path(),
    most: Annotated[
        int | None, typer.Option(min=1, help="At most this many texts, and passages.")
    ] = None,
    most_base: Annotated[
        int | None, typer.Option(min=1, help="At most this many for the base, which is slow.")
    ] = None,
    keep: Annotated[
        Path | None, path_option("Keep the outputs here, to go on after a stop.", metavar="FOLDER")
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Texts decoded at once.")] = 16,
) -> None:
    """Compare an extractor with its untrained base; the figures go into its model card."""
    from ras_flow.support.validation import read_toml
    from ras_flow.training.triples.comparing import compare
    from ras_flow.training.triples.config import TrainingConfig

    measured = asyncio.run(
        compare(
            read_toml(config, TrainingConfig),
            folder,
            data=data,
            most=most,
            most_base=most_base,
            batch_size=batch_size,
            keep=keep,
            log=log,
        )
    )
    _show(measured)


def _show(measured: Sequence[Figures]) -> None:
    for figures in measured:
        rows = [
            [plain(source), *(f"{scores[name]:g}" for name in _COLUMNS)]
            for source, scores in figures["sources"].items()
        ]
        print_table(["source", *_COLUMNS.values()], rows, title=figures["name"])
        typer.echo(
            f"{figures['fact_recall']:.1%} of {figures['facts']} answer-bearing facts found, "
            f"{figures['unparsable']:.2%} of the outputs without a triple, "
            f"{figures['pronoun_subjects']:.2%} of the subjects pronouns; "
            f"{figures['output_tokens']} tokens\n"
        )


_COLUMNS = {
    "texts": "texts",
    "normalised_precision": "P",
    "normalised_recall": "R",
    "normalised_f1": "F1",
    "exact_f1": "exact F1",
    "soft_f1": "soft F1",
    "rouge1": "R-1",
    "rouge2": "R-2",
    "rougeL": "R-L",
}
