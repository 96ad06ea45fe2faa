"""ras-flow data: make training data."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from ras_flow.cli.models import BaseUrl, ExtractorOutput
from ras_flow.cli.names import path_of
from ras_flow.cli.output import INTERRUPTED, AsJson, log, print_json, tell_interrupted
from ras_flow.cli.triples import Database
from ras_flow.errors import ConfigurationError, InputError
from ras_flow.settings.context import DEFAULT_MODEL, NO_EXTRACTOR, Context

if TYPE_CHECKING:
    from ras_flow.parts.protocols import LanguageModel
    from ras_flow.training.data.progress import Progress
    from ras_flow.training.data.stats import Stats

T = TypeVar("T")

app = typer.Typer(help="Make training data.", no_args_is_help=True)

GO_ON = "Go on with the same command."

ENDING = 1.0
"""Seconds that work has to end after Ctrl-C."""

Mix = Annotated[
    Path,
    typer.Argument(
        parser=path_of, metavar="MIX", help="TOML file: the data sets and their weights."
    ),
]
Out = Annotated[Path, typer.Option("--out", parser=path_of, help="Folder of the data set.")]


@app.command()
def build(
    hotpotqa: Annotated[
        Path,
        typer.Argument(
            parser=path_of, metavar="HOTPOTQA", help="Questions in HotpotQA's own format."
        ),
    ],
    out: Out,
    model: Annotated[
        str, typer.Option(help="Model of every step that names none.")
    ] = DEFAULT_MODEL,
    base_model: Annotated[
        str | None, typer.Option(help="Attempts questions without retrieval; '' for none.")
    ] = None,
    filter_model: Annotated[str | None, typer.Option(help="Keeps the documents needed.")] = None,
    subquery_model: Annotated[str | None, typer.Option(help="Writes the subqueries.")] = None,
    extractor: Annotated[str | None, typer.Option(help="Turns texts into triples.")] = None,
    base_url: BaseUrl = None,
    distractors: Annotated[int, typer.Option(help="Other documents in each hop.")] = 4,
    failures: Annotated[bool, typer.Option("--failures", help="Let hops fail too.")] = False,
    limit: Annotated[int | None, typer.Option(help="Use only the first questions.")] = None,
    concurrency: Annotated[int, typer.Option(help="Questions under way at once.")] = 8,
    seed: Annotated[
        int, typer.Option(help="Decides the split: the same for all data sets of a training.")
    ] = 13,
    dev: Annotated[float, typer.Option(help="Share of the questions to watch training by.")] = 0.05,
    test: Annotated[
        float, typer.Option(help="Share of the questions that is left untouched, to measure by.")
    ] = 0.05,
    price: Annotated[
        list[str] | None,
        typer.Option(
            help="STEP=IN/OUT, USD a million tokens; attempt, filter, subqueries or extract."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Build HotpotQA-SUBQ with language models (appendix C); start it again to go on."""
    from ras_flow.llms.local.tuned import extractor_name
    from ras_flow.training.data.subq.build import build_hotpotqa_subq, cost
    from ras_flow.training.data.subq.config import BuildConfig, Models

    prices = dict(map(_price, price or []))

    def load(name: str | None) -> LanguageModel:
        return _load(name or model, base_url, concurrency)

    models = Models(
        base=None if base_model == "" else load(base_model),
        filter=load(filter_model),
        subqueries=load(subquery_model),
        extractor=load(extractor_name(extractor or model)),
    )
    config = BuildConfig(
        seed=seed,
        dev=dev,
        test=test,
        distractors=distractors,
        failures=failures,
        concurrency=concurrency,
        limit=limit,
    )
    stats = _run(lambda shown: build_hotpotqa_subq(hotpotqa, out, models, config, shown), GO_ON)
    _report(out, stats, as_json)
    if prices and not as_json:
        unpriced = ", ".join(step for step in stats.usage if step not in prices)
        without = f", without {unpriced}" if unpriced else ""
        typer.echo(f"cost: ${cost(stats, prices):.2f}{without}")


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
    """Convert published data sets; asks no model, except a base model that the file names."""
    from ras_flow.training.data.config import load_config
    from ras_flow.training.data.convert import convert_mix

    settings = load_config(config)
    settings = replace(settings, as_text=as_text or settings.as_text)
    model = _load(settings.base_model, settings.base_url, 8) if settings.base_model else None
    # Without a model nothing is kept of what was not finished.
    stats = _run(lambda shown: convert_mix(settings, out, model, shown), GO_ON if model else "")
    _report(out, stats, as_json)


@app.command()
def play(
    config: Mix,
    out: Out,
    extractor: Annotated[
        str, typer.Option(help="Turns the passages into triples; as runs name it.")
    ] = DEFAULT_MODEL,
    extractor_output: ExtractorOutput = Context.extractor_output,
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
    from ras_flow.parts.chosen import Parts
    from ras_flow.runs import open_store
    from ras_flow.training.data.config import load_config
    from ras_flow.training.data.playing import play_mix

    settings = _extractor_settings(extractor, base_url, extractor_output)
    if planner:
        settings = replace(settings, planner=planner, answerer=planner)
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

    _report(out, _run(work, GO_ON), as_json)


@app.command()
def complete_triples(
    passages: Annotated[
        Path,
        typer.Argument(
            parser=path_of, metavar="PASSAGES", help="A corpus: JSON lines with title, text."
        ),
    ],
    questions: Annotated[
        Path,
        typer.Argument(
            parser=path_of, metavar="QUESTIONS", help="Questions on it, with support and triples."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", parser=path_of, help="File to write, for train triples.")
    ],
    held_out: Annotated[
        list[Path] | None,
        typer.Option(
            parser=path_of, help="Use no passage with a title of this file; may be repeated."
        ),
    ] = None,
    held_out_if: Annotated[
        str | None,
        typer.Option(metavar="FIELD", help="Use no passage of questions where this is true."),
    ] = None,
    most_words: Annotated[
        int | None, typer.Option(help="Longest passage; training leaves out over 512 tokens.")
    ] = None,
    extractor: Annotated[
        str, typer.Option(help="Model whose triples are completed; as runs name it.")
    ] = DEFAULT_MODEL,
    base_url: BaseUrl = None,
) -> None:
    """Complete an extractor's triples with the evidence of questions; start it again to go on."""
    from ras_flow.parts.chosen import Parts
    from ras_flow.training.triples.completing import complete, facts_of_corpus

    settings = _extractor_settings(extractor, base_url)
    stated = facts_of_corpus(
        passages,
        questions,
        held_out=held_out or (),
        held_out_if=held_out_if,
        most_words=most_words,
    )

    async def work() -> int:
        model = await Parts().get_extractor(settings)
        return len(await complete(stated, model, out, log=log))

    with _ended_by_ctrl_c(GO_ON) as loop:
        made = loop.run(_in_time(work()))
    typer.echo(f"{out}: {made} of {len(stated)} passages")


@app.command()
def stats(
    folder: Annotated[
        Path, typer.Argument(parser=path_of, metavar="FOLDER", help="Folder of a data set.")
    ],
    as_json: AsJson = False,
) -> None:
    """Check a data set and count what it holds: every record, split and label."""
    from ras_flow.training.data.labels import check_labels
    from ras_flow.training.data.stats import Stats
    from ras_flow.training.graph_llm.placed import read_split
    from ras_flow.training.splits import SPLITS

    counted = Stats()
    records = [one.record for split in SPLITS for one in read_split([folder], split)]
    for record in records:
        counted.add(record)
    check_labels(records)
    _report(folder, counted, as_json)


def _run(work: Callable[[Progress], Coroutine[Any, Any, Stats]], hint: str) -> Stats:
    """Do a command's work, and show how far it is."""
    with _ended_by_ctrl_c(hint) as loop, _shown() as shown:
        return loop.run(_in_time(work(shown)))


@contextmanager
def _ended_by_ctrl_c(hint: str) -> Iterator[asyncio.Runner]:
    """Give a loop to work in, and end the process where Ctrl-C ends the work.

    Threads that compute cannot be stopped, and Python would wait for them.
    """
    with asyncio.Runner() as loop:
        try:
            yield loop
        except KeyboardInterrupt:
            tell_interrupted(hint)
            os._exit(INTERRUPTED)


async def _in_time(work: Coroutine[Any, Any, T]) -> T:
    """Await work that has a moment to end when it is cancelled, as to write down what it has."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait([task], timeout=ENDING)
        raise


@contextmanager
def _shown() -> Iterator[Progress]:
    """Show progress on standard error."""
    from rich.console import Console

    from ras_flow.cli.progress import now_and_then
    from ras_flow.formats.text import plain

    console = Console(stderr=True)
    tell = now_and_then(log)
    with console.status("reading") as status:

        def show(doing: str, done: int, total: int) -> None:
            line = f"{plain(doing)}: {done} of {total}"
            if not console.is_terminal:
                tell(line)
            elif done % 20 == 0 or done == total:
                status.update(line)

        yield show


def _load(name: str, base_url: str | None, concurrency: int) -> LanguageModel:
    from ras_flow.llms import load_language_model

    return load_language_model(name, base_url=base_url, max_concurrency=concurrency)


def _extractor_settings(extractor: str, base_url: str | None, output: str = "text") -> Context:
    if extractor == NO_EXTRACTOR:
        raise InputError("The extractor 'none' makes no triples: name one that does.")
    return Context.from_mapping(
        {"extractor": extractor, "extractor_output": output, "base_url": base_url}
    )


def _price(text: str) -> tuple[str, tuple[float, float]]:
    from ras_flow.training.data.subq.config import STEPS

    step, _, numbers = text.partition("=")
    try:
        given, made = map(float, numbers.split("/"))
    except ValueError as error:
        raise ConfigurationError(
            f"--price {text!r} cannot be read: write it like filter=3/15."
        ) from error
    if step not in STEPS:
        raise ConfigurationError(
            f"--price {text!r}: there is no step {step!r}, only {', '.join(STEPS)}."
        )
    return step, (given, made)


def _report(folder: Path, stats: Stats, as_json: bool) -> None:
    if as_json:
        print_json(stats.to_json())
        return
    typer.echo(f"{folder}: {sum(stats.by(1).values())} records {json.dumps(stats.by(1))}")
    typer.echo(stats.table())
    for step, used in stats.usage.items():
        typer.echo(f"{step}: {json.dumps(used)}")
    if stats.dropped:
        typer.echo(f"left out: {json.dumps(stats.dropped)}")
