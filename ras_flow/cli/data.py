"""ras-flow data: make training data of the Graph LLM, and check it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ras_flow.cli.names import path_of
from ras_flow.cli.output import AsJson
from ras_flow.cli.settings import BaseUrl
from ras_flow.cli.work import GO_ON, Out, load_model, report, run_work
from ras_flow.settings.context import DEFAULT_MODEL

if TYPE_CHECKING:
    from ras_flow.parts.protocols import LanguageModel

app = typer.Typer(help="Make training data of the Graph LLM, and check it.", no_args_is_help=True)


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
    from ras_flow.llms.local.tuned import extractor_name
    from ras_flow.training.data.subq.build import build_hotpotqa_subq
    from ras_flow.training.data.subq.config import BuildConfig, Models

    def load(name: str | None) -> LanguageModel:
        return load_model(name or model, base_url, concurrency)

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
    report(folder, counted, as_json)
