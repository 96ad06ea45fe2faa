"""``python -m recipes``: the commands that made the training data of the shipped weights."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from ras_flow.cli.commands import run
from ras_flow.cli.graph_llm import Config
from ras_flow.cli.options import path_argument, path_option
from ras_flow.cli.output import AsJson, log
from ras_flow.cli.progress import shown_progress
from ras_flow.cli.settings import BaseUrl, ExtractorOutput
from ras_flow.cli.train import Data
from ras_flow.cli.triples import Database
from ras_flow.cli.work import GO_ON, Out, ended_by_ctrl_c, in_time, report, run_work
from ras_flow.datasets.reading import read_rows
from ras_flow.errors import InputError
from ras_flow.llms.loading import load_language_model
from ras_flow.parts.chosen import Parts
from ras_flow.parts.records import Extraction
from ras_flow.runs import open_store
from ras_flow.settings.context import DEFAULT_MODEL, DEFAULTS, NO_EXTRACTOR, Context
from ras_flow.support.validation import read_toml
from ras_flow.training.data.stats import Stats
from ras_flow.training.data.writer import Progress
from ras_flow.training.texts.config import RowTraining
from ras_flow.training.triples.comparing import drawn, kept_in, trained_extractor
from ras_flow.training.triples.config import TrainingConfig
from ras_flow.training.triples.data import load_data
from ras_flow.training.triples.examples import read_examples, write_examples
from ras_flow.training.triples.raw import extract_raw, passages_of
from recipes.answers import play_answers as record_answers
from recipes.graph_llm.attempting import attempt as attempt_mix
from recipes.graph_llm.config import load_config
from recipes.graph_llm.mix import write_mix
from recipes.graph_llm.playing import play_mix
from recipes.graph_llm.threads import in_thread
from recipes.kg_questions import convert_kg
from recipes.labels import LabelledReplies, labelled_passages, labelled_rows
from recipes.labels.reasoning import reasoned
from recipes.lessons import Played, Student, play_texts
from recipes.t2rag.convert import rows_of, write_rows
from recipes.triples.cleaning import clean
from recipes.triples.completing import complete, facts_of_mix
from recipes.triples.rules import effects_of_rules, effects_table

app = typer.Typer(
    name="recipes",
    help="Make the training data of the shipped weights.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

Mix = Annotated[
    Path,
    path_argument("MIX", "TOML file: the data sets and their weights."),
]


Worlds = Annotated[
    list[Path] | None, path_option("Also play the questions of these invented worlds.")
]


@app.command()
def convert(
    config: Mix,
    out: Out,
    as_text: Annotated[
        bool,
        typer.Option(
            "--as-text", help="Ablation: write passages instead of triples; train with --no-graph."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Convert published data sets; asks no model."""
    settings = load_config(config)
    if as_text:
        settings = settings.override({"as_text": True})
    stats = run_work(lambda shown: in_thread(write_mix, settings, out, progress=shown), "")
    report(out, stats, as_json)


@app.command()
def attempt(
    config: Mix,
    out: Out,
    base: Annotated[str, typer.Option(help="Model to ask; as `local:NAME`.")],
    limit: Annotated[int | None, typer.Option(min=1, help="Training questions at most.")] = None,
) -> None:
    """Ask a base model the training questions, for [NO_RETRIEVAL]; start it again to go on."""
    mix, model = load_config(config), load_language_model(base)
    known, of = run_work(
        lambda shown: attempt_mix(mix, model, out, limit=limit, progress=shown), GO_ON
    )
    typer.echo(f"{out}/known.jsonl: {known} of {of} questions")


@app.command()
def play(
    config: Mix,
    out: Out,
    extractor: Annotated[
        str, typer.Option(help="Turns the passages into triples; as runs name it.")
    ] = DEFAULT_MODEL,
    extractor_output: ExtractorOutput = DEFAULTS.extractor_output,
    planner: Annotated[
        str | None,
        typer.Option(
            help="Follow the plans of this model, and record what would have been right; as runs "
            "name it."
        ),
    ] = None,
    base_url: BaseUrl = None,
    limit: Annotated[
        int | None, typer.Option(help="Training questions at most; others in proportion.")
    ] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Play real runs on questions with documents, for graphs as real ones are.

    The retriever is BM25 over the questions' passages, and a teacher that knows the gold facts
    plans and answers. With --planner the plans of that model are followed, and the teacher's are
    recorded. Triples are kept, so that the same command goes on where it was stopped.
    """
    settings = _extractor_settings(extractor, base_url, extractor_output)
    if planner:
        settings = settings.override({"planner": planner, "answerer": planner})
    mix = load_config(config)

    async def work(shown: Progress) -> Stats:
        parts = Parts()
        model = await parts.get_extractor(settings)
        student = await parts.get_planner(settings) if planner else None
        soft = student is not None and student.takes_soft_tokens
        encoder = await parts.get_encoder(settings) if soft else None
        async with open_store(database, new=True) as store:
            return await play_mix(
                mix,
                out,
                model,
                store,
                planner=student,
                limit=limit,
                encoder=encoder,
                progress=shown,
            )

    report(out, run_work(work, GO_ON), as_json)


@app.command(name="play-texts")
def play_rows(
    config: Mix,
    training: Annotated[
        Path, path_argument("TRAINING", "Settings for train texts: the model and its tasks.")
    ],
    out: Annotated[Path, path_option("File to write, for train texts.", "--out")],
    system: Annotated[
        Played, typer.Option(help="Baseline to play, or RAS with one call a hop.")
    ] = "single",
    top_k: Annotated[int, typer.Option(min=1, help="Passages a search.")] = 2,
    student: Annotated[
        str | None,
        typer.Option(
            help="With one call a hop, follow this trained model, and record what would have been "
            "right; as `local:FOLDER`, or `labels` for the replies of recipes/labels."
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Training questions at most; others in proportion.")
    ] = None,
    worlds: Worlds = None,
) -> None:
    """Run a system on training questions, with a teacher as its model."""
    mix, settings = load_config(config), read_toml(training, RowTraining)
    with ended_by_ctrl_c("") as loop, shown_progress() as progress:
        rows = loop.run(
            in_time(
                play_texts(
                    mix,
                    system,
                    base=settings.model.name,
                    tasks=settings.tasks,
                    top_k=top_k,
                    student=_student(student),
                    limit=limit,
                    worlds=worlds or (),
                    progress=progress,
                )
            )
        )
    _tell_rows(write_rows(out, rows, mix.seed))


@app.command()
def play_answers(
    config: Mix,
    out: Out,
    student: Annotated[
        str, typer.Option(help="Reads the hops; as `local:FOLDER`, or `labels`.")
    ] = "labels",
    worlds: Worlds = None,
    as_json: AsJson = False,
) -> None:
    """Run the default loop on training questions, and record what its answerer is shown."""
    mix, reader = load_config(config), _student(student)
    assert reader is not None
    stats = run_work(lambda shown: record_answers(mix, reader, worlds or (), out, shown), "")
    report(out, stats, as_json)


@app.command()
def label_rows(
    files: Annotated[list[Path], path_argument("FILE", "Rows of play-texts --system one_call.")],
    out: Annotated[Path, path_option("File to write, for train texts.", "--out")],
    reasoning: Annotated[
        bool, typer.Option("--reasoning", help="Write them as IRCoT's sentences.")
    ] = False,
) -> None:
    """Keep the rows that recipes/labels has a reply to, with it as what is learnt."""
    read = [row.value for file in files for row in read_rows(file)]
    kept = labelled_rows(read, LabelledReplies())
    _tell_rows(write_rows(out, reasoned(kept) if reasoning else kept, seed=13))


@app.command()
def label_triples(
    mixes: Annotated[list[Path], path_argument("MIX", "TOML files: the data sets.")],
    out: Annotated[Path, path_option("File to write, for train triples.", "--out")],
    paragraphs: Annotated[
        Path | None, path_option("Also label the paragraphs of this file of QED.")
    ] = None,
) -> None:
    """Write the passages that recipes/labels has triples of."""
    made = labelled_passages(map(load_config, mixes), paragraphs)
    write_examples(out, made)
    typer.echo(f"{out}: {len(made)} passages")


@app.command()
def kg_questions(
    data: Annotated[Path, path_argument("DATA", "Folder of published files.")],
    out: Annotated[Path, path_option("Folder to write.", "--out")],
) -> None:
    """Write questions on knowledge graphs, and a mix of them for `ras-flow data supervise`."""
    for name, count in convert_kg(data, out).items():
        typer.echo(f"{out}/{name}.jsonl: {count} questions")


@app.command()
def convert_t2rag(
    config: Mix,
    out: Annotated[Path, path_option("File to write, for train texts.", "--out")],
) -> None:
    """Convert published data sets to what T²RAG's adapter learns: decompose and resolve."""
    mix = load_config(config)
    _tell_rows(write_rows(out, rows_of(mix), mix.seed))


@app.command()
def clean_triples(
    files: Annotated[list[Path], path_argument("FILE", "Texts with triples.")],
    out: Annotated[Path, path_option("File to write, for train triples.", "--out")],
    seed: Annotated[int, typer.Option(help="Decides which texts are given a title.")] = 13,
) -> None:
    """Clean published texts with triples, all files together, for the training of an extractor."""
    read = [example for file in files for example in read_examples(file)]
    kept = clean(read, seed=seed)
    write_examples(out, kept)
    typer.echo(f"{out}: {len(kept)} of {len(read)} texts")


@app.command()
def complete_triples(
    config: Mix,
    out: Annotated[Path, path_option("File to write, for clean-triples.", "--out")],
    most_words: Annotated[
        int | None, typer.Option(help="Longest passage; training leaves out over 512 tokens.")
    ] = None,
    extractor: Annotated[
        str, typer.Option(help="Model whose triples are completed; as runs name it.")
    ] = DEFAULT_MODEL,
    base_url: BaseUrl = None,
    database: Database = None,
) -> None:
    """Complete an extractor's triples with the evidence of training questions, on their pages.

    Start it again to go on.
    """
    settings = _extractor_settings(extractor, base_url)
    stated = facts_of_mix(load_config(config), most_words=most_words)

    async def work() -> int:
        model = await Parts().get_extractor(settings)
        async with open_store(database, new=True) as store:
            return len(await complete(stated, model, out, store=store, log=log))

    with ended_by_ctrl_c(GO_ON) as loop:
        made = loop.run(in_time(work()))
    typer.echo(f"{out}: {made} of {len(stated)} passages")


@app.command()
def measure_rules(
    config: Config,
    folder: Annotated[Path, path_argument("FOLDER", "A trained extractor.")],
    data: Data = Path(),
    most: Annotated[
        int | None, typer.Option(min=1, help="At most so many texts, and so many passages.")
    ] = None,
    keep: Annotated[
        Path | None,
        path_option(
            "Where `measure-triples --keep` keeps outputs: these are not made again.",
            metavar="FOLDER",
        ),
    ] = None,
) -> None:
    """Measure each rule for what enters the graph."""
    settings = read_toml(config, TrainingConfig)
    texts, facts = drawn(load_data(settings.data, data), most, seed=settings.data.seed)
    _, extractor = trained_extractor(folder, batch_size=16)

    async def work() -> dict[str, Extraction]:
        async with kept_in(keep) as cache:
            return await extract_raw(extractor, passages_of(texts, facts), cache, log)

    typer.echo(effects_table(effects_of_rules(asyncio.run(work()), texts, facts)))


def _student(name: str | None) -> Student | None:
    return LabelledReplies() if name == "labels" else load_language_model(name) if name else None


def _tell_rows(counts: Mapping[tuple[str, str, str], int]) -> None:
    for (split, task, source), count in sorted(counts.items()):
        typer.echo(f"{split} {task} {source}: {count}")


def _extractor_settings(extractor: str, base_url: str | None, output: str = "text") -> Context:
    if extractor == NO_EXTRACTOR:
        raise InputError("The extractor 'none' makes no triples: name one that does.")
    return Context.from_mapping(
        {
            "extractor": extractor,
            "extractor_output": output,
            "base_url": base_url,
            "loop": "paper",
        }
    )


if __name__ == "__main__":
    run(app)
