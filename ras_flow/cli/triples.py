"""ras-flow triples: extract an index's triples ahead of time, and manage those kept."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from ras_flow.cli.options import EngineOption, address_of, opened_engine, path_option
from ras_flow.cli.output import (
    AsJson,
    confirmed,
    json_line,
    print_json,
    tell_interrupted,
    with_hint,
)
from ras_flow.cli.render import counted
from ras_flow.cli.settings import BaseUrl, ExtractorOutput, Set, read_settings
from ras_flow.errors import InputError, RasFlowError
from ras_flow.formats.text import plain
from ras_flow.settings.context import DEFAULTS, DEMO_INDEX, NO_EXTRACTOR, Context
from ras_flow.support.files import whole_file, writing

if TYPE_CHECKING:
    from collections.abc import Callable

    from ras_flow.indexes.propositions.update import Change
    from ras_flow.parts.protocols import SentenceEncoder
    from ras_flow.support.engine import Engine
    from ras_flow.triples.cache import KeptTriples
    from ras_flow.triples.precompute import Filling

app = typer.Typer(help="Triples of passages, kept for all runs.", no_args_is_help=True)

Database = Annotated[
    str | None,
    typer.Option(
        parser=address_of,
        metavar="ADDRESS",
        envvar="RAS_FLOW_DATABASE",
        show_default=False,
        help="Where runs and triples are kept: a folder (yours if left out) or postgresql://…",
    ),
]
Of = Annotated[
    str,
    typer.Option("--extractor", metavar="TEXT", help="Only extractors whose name contains this."),
]

GO_ON = "Finished work is kept; go on with the same command."


Index = Annotated[str, typer.Argument(help="Folder of the index, or: demo.")]
Extractor = Annotated[
    str,
    typer.Option(
        help="provider:model, local:NAME_OR_PATH or vllm:NAME_OR_PATH, as the runs name it."
    ),
]
Workers = Annotated[
    int, typer.Option(min=1, help="Batches (of a remote model: requests) under way at once.")
]


@app.command()
def precompute(
    index: Index,
    extractor: Extractor = DEFAULTS.extractor,
    extractor_output: ExtractorOutput = DEFAULTS.extractor_output,
    base_url: BaseUrl = None,
    workers: Workers = DEFAULTS.max_concurrency,
    more: Set = None,
    database: Database = None,
    engine: EngineOption = "local",
    as_json: AsJson = False,
) -> None:
    """Extract triples for all passages of an index, except those already kept.

    Runs of the paper's loop read those that were made with `--set loop=paper`.
    """
    context = _context(extractor, extractor_output, base_url, workers, more)

    with opened_engine(engine, most=workers) as where:
        filling, _ = asyncio.run(_filled(index, context, database, where))
    if as_json:
        print_json(asdict(filling))
    else:
        _tell(index, filling)
    _check(filling)


@app.command("index")
def index_triples(
    index: Index,
    extractor: Extractor = DEFAULTS.extractor,
    extractor_output: ExtractorOutput = DEFAULTS.extractor_output,
    base_url: BaseUrl = None,
    workers: Workers = DEFAULTS.max_concurrency,
    more: Set = None,
    database: Database = None,
    engine: EngineOption = "local",
    as_json: AsJson = False,
) -> None:
    """Index the triples of all passages for T²RAG: extract, embed what is new, drop what is gone.

    They are embedded by the encoder of the index, or by what `--set encoder=…` names.
    """
    from ras_flow.cluster.parts import encoder_on
    from ras_flow.indexes.opening import settings_of

    context = _context(extractor, extractor_output, base_url, workers, more)
    if index == DEMO_INDEX:
        context = context.override({"index": index})
    named = {"encoder": context.encoder} | settings_of(Path(index)) | context.given()
    with opened_engine(engine, most=workers) as where:
        encoder = encoder_on(where, named["encoder"])
        filling, change = asyncio.run(_filled(index, context, database, where, encoder))
    assert change is not None
    if as_json:
        print_json({"extracted": asdict(filling), "indexed": asdict(change)})
    else:
        _tell(index, filling)
        typer.echo(
            f"{change.propositions} propositions of {change.passages} passages: {change.new} new, "
            f"{change.gone} gone"
        )
    _check(filling)


@app.command()
def stats(database: Database = None, as_json: AsJson = False) -> None:
    """Count the kept triples, by extractor."""
    counts: dict[str, dict[str, int]] = {}

    def add(kept: KeptTriples) -> None:
        count = counts.setdefault(kept.extractor, {"passages": 0, "triples": 0})
        count["passages"] += 1
        count["triples"] += len(kept.triples)

    _visit(database, "", add)
    if as_json:
        print_json([{"extractor": name, **count} for name, count in sorted(counts.items())])
        return
    for name, count in sorted(counts.items()):
        typer.echo(f"{plain(name)}: {count['passages']} passages, {count['triples']} triples")
    if not counts:
        typer.echo("No triples are kept yet.")


@app.command()
def export(
    extractor: Of = "",
    output: Annotated[
        Path | None, path_option("Write to this file instead of the screen.", "--output", "-o")
    ] = None,
    database: Database = None,
) -> None:
    """Write the kept triples as JSON lines: passage id, extractor, triples."""
    with _opened(output) as file:

        def write(kept: KeptTriples) -> None:
            record = {
                "passage": kept.passage,
                "extractor": kept.extractor,
                "triples": [list(triple) for triple in kept.triples],
            }
            file.write(json_line(record, file) + "\n")

        _visit(database, extractor, write)


@app.command()
def clear(
    extractor: Of = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    database: Database = None,
) -> None:
    """Delete kept triples; runs keep those in their graphs."""
    from ras_flow.runs import open_store
    from ras_flow.triples.cache import clear_kept

    async def delete() -> int:
        async with open_store(database) as store:
            return await clear_kept(store, extractor)

    found: list[str] = []
    _visit(database, extractor, lambda kept: found.append(kept.passage))
    count = len(found)
    if not count:
        typer.echo("No triples to delete.")
    elif yes or confirmed(f"the triples of {count} passages"):
        typer.echo(f"Deleted the triples of {asyncio.run(delete())} passages.")
    else:
        typer.echo("Nothing was deleted.")


def _context(
    extractor: str, output: str, base_url: str | None, workers: int, more: list[str] | None
) -> Context:
    if extractor == NO_EXTRACTOR:
        raise InputError("The extractor 'none' makes no triples: name one that does.")
    return Context.from_mapping(
        {
            "extractor": extractor,
            "extractor_output": output,
            "base_url": base_url,
            "max_concurrency": workers,
            **read_settings(more, Context),
        }
    )


def _tell(index: str, filling: Filling) -> None:
    typer.echo(
        f"{index}: {filling.total} passages, {filling.known} known, {filling.extracted} "
        f"extracted ({filling.triples} triples), {filling.failed} failed; "
        f"{filling.input_tokens:,} tokens read, {filling.output_tokens:,} written"
    )


def _check(filling: Filling) -> None:
    """Fail where passages could not be extracted."""
    if filling.failed:
        raise RasFlowError(
            f"{counted(filling.failed, 'passage')} could not be extracted. The last error: "
            f"{plain(filling.problem)} The same command tries them again."
        )


async def _filled(
    index: str,
    context: Context,
    database: str | None,
    engine: Engine,
    encoder: SentenceEncoder | None = None,
) -> tuple[Filling, Change | None]:
    """Extract what the store does not have; with an encoder, index it too."""
    from ras_flow.cli.progress import progress_on, shown_progress
    from ras_flow.cluster.parts import parts_on
    from ras_flow.demo.index import demo_index
    from ras_flow.indexes import CorpusIndex
    from ras_flow.indexes.manifest import PASSAGES
    from ras_flow.indexes.propositions.update import update_propositions
    from ras_flow.runs.databases.stores import filling, open_store
    from ras_flow.triples.cache import TripleCache
    from ras_flow.triples.precompute import precompute

    path = await demo_index(encoder) if index == DEMO_INDEX else Path(index)
    corpus = await asyncio.to_thread(CorpusIndex.open, path)
    extractor = await parts_on(engine).get_extractor(context)
    work = f"{extractor.identity}\0{corpus.manifest.files[PASSAGES].sha256}"
    try:
        async with open_store(database, new=True) as store, filling(database, work):
            with shown_progress() as show:
                made = await precompute(
                    corpus.passages,
                    extractor,
                    store,
                    workers=context.max_concurrency,
                    progress=lambda told: show("passages", told.done, told.total),
                )
            if encoder is None:
                return made, None
            with progress_on() as progress:
                of = extractor.identity
                cache = TripleCache(store, of)
                return made, await update_propositions(corpus, of, cache, encoder, progress, engine)
    except RasFlowError as error:
        raise RasFlowError(with_hint(error, GO_ON)) from error
    except asyncio.CancelledError:
        tell_interrupted(GO_ON)
        raise


def _visit(database: str | None, extractor: str, visit: Callable[[KeptTriples], None]) -> None:
    from ras_flow.runs import open_store
    from ras_flow.triples.cache import read_kept

    async def read() -> None:
        async with open_store(database) as store:
            async for kept in read_kept(store, extractor):
                visit(kept)

    asyncio.run(read())


@contextmanager
def _opened(output: Path | None) -> Iterator[TextIO]:
    if output is None:
        yield sys.stdout
        return
    with writing(output), whole_file(output) as file:
        yield file
