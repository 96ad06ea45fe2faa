"""ras-flow data: make training data of the Graph LLM, and check it."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ras_flow.cli.options import path_argument
from ras_flow.cli.output import AsJson, print_json
from ras_flow.cli.settings import BaseUrl
from ras_flow.cli.work import GO_ON, Out, report, run_work
from ras_flow.errors import InputError
from ras_flow.settings.context import DEFAULT_MODEL

if TYPE_CHECKING:
    from ras_flow.parts.protocols import LanguageModel
    from ras_flow.training.data.writer import Progress

app = typer.Typer(help="Make training data, and check it.", no_args_is_help=True)


@app.command()
def build(
    hotpotqa: Annotated[Path, path_argument("HOTPOTQA", "Questions in HotpotQA's own format.")],
    out: Out,
    model: Annotated[
        str, typer.Option(help="Model of every step without its own option.")
    ] = DEFAULT_MODEL,
    base_model: Annotated[
        str | None, typer.Option(help="Attempts questions without retrieval; '' for none.")
    ] = None,
    filter_model: Annotated[str | None, typer.Option(help="Keeps the documents needed.")] = None,
    subquery_model: Annotated[str | None, typer.Option(help="Writes the subqueries.")] = None,
    extractor: Annotated[str | None, typer.Option(help="Turns texts into triples.")] = None,
    base_url: BaseUrl = None,
    distractors: Annotated[int, typer.Option(help="Other documents in each hop.")] = 4,
    limit: Annotated[int | None, typer.Option(help="Use only the first questions.")] = None,
    concurrency: Annotated[int, typer.Option(help="Questions under way at once.")] = 8,
    seed: Annotated[
        int, typer.Option(help="Seed of the split; use the same for all data sets of a training.")
    ] = 13,
    dev: Annotated[float, typer.Option(help="Share of questions for watching training.")] = 0.05,
    test: Annotated[
        float, typer.Option(help="Share of questions left untouched, for measuring.")
    ] = 0.05,
    as_json: AsJson = False,
) -> None:
    """Build HotpotQA-SUBQ with language models (appendix C); start it again to go on."""
    from ras_flow.llms import load_language_model
    from ras_flow.llms.local.tuned import extractor_name
    from ras_flow.training.data.subq.build import build_hotpotqa_subq
    from ras_flow.training.data.subq.builder import BuildConfig, Models

    def load(name: str | None) -> LanguageModel:
        return load_language_model(name or model, base_url=base_url, max_concurrency=concurrency)

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
        concurrency=concurrency,
        limit=limit,
    )
    stats = run_work(lambda shown: build_hotpotqa_subq(hotpotqa, out, models, config, shown), GO_ON)
    report(out, stats, as_json)


@app.command()
def stats(
    folder: Annotated[Path, path_argument("FOLDER", "Folder of a data set.")],
    as_json: AsJson = False,
) -> None:
    """Check a data set and count what it holds: every record, split and label."""
    from ras_flow.training.data.labels import check_labels
    from ras_flow.training.data.stats import Stats
    from ras_flow.training.graph_llm.data import read_split
    from ras_flow.training.splits import SPLITS

    counted = Stats()
    records = [one for split in SPLITS for one in read_split([folder], split)]
    for record in records:
        counted.add(record)
    check_labels(records)
    report(folder, counted, as_json)


@app.command()
def supervise(
    mix: Annotated[Path, path_argument("MIX", "TOML file: questions, graphs.")],
    out: Out,
    refiner: Annotated[
        list[str],
        typer.Option(
            help="Who chooses among paths: gold, none, similarity, a chat model by its name, or a "
            "local one, which scores them. Several are to be joined."
        ),
    ],
    join: Annotated[
        Literal["union", "intersection"] | None,
        typer.Option(help="Take what any of several refiners chooses, or what all of them do."),
    ] = None,
    base_url: BaseUrl = None,
    concurrency: Annotated[int, typer.Option(help="Questions under way at once.")] = 8,
    as_json: AsJson = False,
) -> None:
    """Label questions on knowledge graphs for retrievers of facts; start it again to go on."""
    from ras_flow.llms import load_language_model
    from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
    from ras_flow.training.data.calls import LoggedModel, open_log
    from ras_flow.training.retriever.refining import (
        JoinedRefiner,
        LocalRefiner,
        PromptedRefiner,
        ScoredRefiner,
    )
    from ras_flow.training.retriever.supervise import check_labels_folder, supervise

    check_labels_folder(out)
    labels = {"gold", "none"}.intersection(refiner)
    if (len(refiner) > 1) != (join is not None) or (join and labels):
        raise InputError(
            "Name one --refiner; or several that choose, which gold and none do not, and --join "
            "union or intersection."
        )

    own = ("gold", "none", "similarity", "local")
    chats = [one for one in refiner if one.partition(":")[0] not in own]

    def named(name: str, log: Any) -> Any:
        if name in labels:
            return name
        if name == "similarity":
            return ScoredRefiner(LocalSentenceEncoder())
        if name not in chats:
            return LocalRefiner(name.partition(":")[2])
        chat = load_language_model(name, base_url=base_url, max_concurrency=concurrency)
        return PromptedRefiner(LoggedModel(chat, log, "refine"))

    async def work(progress: Progress) -> dict[str, Any]:
        async with open_log(out) if chats else nullcontext() as log:
            named_ones = [named(name, log) for name in refiner]
            used = JoinedRefiner(join, named_ones) if join else named_ones[0]
            return await supervise(mix, out, used, progress, at_once=concurrency)

    card = run_work(work, GO_ON)
    if as_json:
        print_json(card)
        return
    typer.echo(f"{out}: {sum(card['records'].values())} labels by {card['refiner']}")
    for source, quality in card["against_gold"].items():
        typer.echo(f"{source}: {json.dumps(quality)}")
