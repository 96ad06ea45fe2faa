"""ras-flow index: build, update and inspect indexes."""

from __future__ import annotations

import asyncio
import os
import shlex
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from ras_flow.cli.documents import Skip, read_and_tell
from ras_flow.cli.options import EngineOption, encoder_name, opened_engine, path_argument
from ras_flow.cli.output import AsJson, log, print_json
from ras_flow.cli.render import counted
from ras_flow.errors import InputError
from ras_flow.formats.text import plain
from ras_flow.settings.context import DEFAULTS, Context

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from ras_flow.documents import SourceDocument
    from ras_flow.indexes import CorpusIndex
    from ras_flow.indexes.ann import VectorChoice
    from ras_flow.indexes.contents import OnProgress

app = typer.Typer(help="Build and update passage indexes.", no_args_is_help=True)

Index = Annotated[Path, path_argument("INDEX", "Folder of the index.")]
Docs = Annotated[
    list[Path],
    path_argument(
        "DOCS", "Files or folders: .txt .md .html .pdf .docx .pptx .xlsx .csv .tsv .epub .jsonl"
    ),
]
BM25_ONLY = "BM25 only"

Encoder = Annotated[
    str,
    typer.Option(parser=encoder_name, metavar="TEXT", help="Sentence encoder: a folder or a name."),
]


@app.command()
def build(
    index: Index,
    docs: Docs,
    encoder: Encoder = DEFAULTS.encoder,
    bm25_only: Annotated[
        bool, typer.Option("--bm25-only", help="Without vectors, and so without a model.")
    ] = False,
    vectors: Annotated[
        str, typer.Option(help="Vector search: flat, hnsw or ivfpq; auto chooses by size.")
    ] = "auto",
    shards: Annotated[int, typer.Option(help="Vector files, built and searched in parallel.")] = 1,
    skip: Skip = False,
    engine: EngineOption = "local",
) -> None:
    """Build an index; an existing one is replaced when the new one is complete."""
    from ras_flow.cluster.parts import encoder_on
    from ras_flow.indexes import CorpusIndex

    with opened_engine(engine) as where:
        model = None if bm25_only else encoder_on(where, encoder)

        async def work(progress: OnProgress) -> CorpusIndex:
            documents = read_and_tell(docs, skip=skip)
            return await CorpusIndex.build(
                index,
                documents,
                encoder=model,
                progress=progress,
                vectors=cast("VectorChoice", vectors),
                shards=shards,
                engine=where,
            )

        _report(index, _work(work))


@app.command()
def add(
    index: Index,
    docs: Docs,
    prune: Annotated[
        bool,
        typer.Option("--prune", help="Remove documents whose files are gone from these folders."),
    ] = False,
    skip: Skip = False,
) -> None:
    """Add documents, or update those that changed; only new passages are embedded.

    Documents whose files are gone stay, unless --prune is given.
    """
    from ras_flow.documents.files import IndexedFiles

    gone: list[str] = []
    elsewhere: list[str] = []

    async def work(progress: OnProgress) -> CorpusIndex:
        opened = _opened(index)
        files = IndexedFiles(await opened.sources())

        def documents() -> Iterator[SourceDocument]:
            for document in read_and_tell(docs, skip=skip, empty_ok=prune):
                source = files.add(document.source, document.content_hash)
                yield replace(document, source=source)

        def removed() -> Iterator[str]:
            gone.extend(files.gone(docs))
            elsewhere.extend(set(files.missing()) - set(gone))
            yield from files.outdated()
            if prune:
                yield from gone

        return await opened.update(
            documents(), remove=removed(), missing_ok=True, progress=progress
        )

    _report(index, _work(work))
    _tell_gone(index, [] if prune else gone, sorted(elsewhere))


def _tell_gone(index: Path, gone: list[str], elsewhere: list[str]) -> None:
    """Say which documents' files are gone, and how to remove them."""
    from ras_flow.documents.files import file_of, gone_folder

    ways = [(gone, "--prune removes them")]
    if elsewhere:
        folder = gone_folder(file_of(elsewhere[0]))
        remove = shlex.join(["ras-flow", "index", "remove", str(index), folder])
        ways.append((elsewhere, f"`{remove}` removes those below {folder}"))
    for sources, way in ways:
        if sources:
            log(
                plain(
                    f"The index still has {counted(len(sources), 'document')} whose files are "
                    f"gone, such as {sources[0]}; {way}."
                )
            )


@app.command()
def remove(
    index: Index,
    sources: Annotated[
        list[str],
        typer.Argument(
            help="Files or folders, or names as `ras-flow index info` lists them; a .jsonl for "
            "its lines."
        ),
    ],
) -> None:
    """Remove documents by their source."""
    from ras_flow.documents.files import IndexedFiles

    async def work(progress: OnProgress) -> CorpusIndex:
        opened = _opened(index)
        files = IndexedFiles(await opened.sources())
        gone = [one for source in sources for one in files.named(source) or [source]]
        return await opened.update(remove=gone, progress=progress)

    _report(index, _work(work))


@app.command()
def renew(index: Index) -> None:
    """Renew BM25 if another version tokenized differently; no passage is embedded again."""
    _report(index, _work(lambda progress: _opened(index).update(progress=progress)))


@app.command()
def push(
    index: Index,
    engine: Annotated[Path, path_argument("ENGINE.toml", "File that names the vector database.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace an existing collection.")
    ] = False,
) -> None:
    """Copy an index to a vector database (Qdrant, pgvector); nothing is embedded again."""
    from ras_flow.indexes import CorpusIndex
    from ras_flow.indexes.engines.config import read_engine
    from ras_flow.indexes.engines.retriever import push as copy

    config = read_engine(engine)

    async def work(progress: OnProgress) -> CorpusIndex:
        opened = await asyncio.to_thread(CorpusIndex.open, index)
        await copy(opened, config, replace=replace, progress=progress)
        return opened

    pushed = _work(work)
    typer.echo(f"{config.engine} {config.collection}: {len(pushed)} passages")


@app.command("list")
def list_indexes(
    folder: Annotated[Path, path_argument("FOLDER", "Where to look.")] = Path(),
    as_json: AsJson = False,
) -> None:
    """List the indexes below a folder, and those that --docs made in the cache."""
    from ras_flow.indexes.listing import find_indexes

    found = list(find_indexes(folder))
    if as_json:
        print_json([{**asdict(one), "path": str(one.path)} for one in found])
        return
    for one in found:
        typer.echo(plain(str(one.path)))
        of = f" of {one.of}" if one.of else ""
        held = f"{_held(one.documents, one.passages)}{of}, {one.encoder or BM25_ONLY}"
        typer.echo(f"  {plain(one.problem or held)}")
    if not found:
        typer.echo("No indexes here. Make one with: ras-flow index build INDEX DOCS")


@app.command()
def info(
    index: Index,
    verify: Annotated[bool, typer.Option("--verify", help="Check every file's hash.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what an index holds."""
    from ras_flow.indexes import CorpusIndex
    from ras_flow.indexes.opening import is_demo
    from ras_flow.indexes.propositions.index import proposition_indexes

    if is_demo(index):
        from ras_flow.demo.index import demo_index
        from ras_flow.llms.sentence_encoder import LocalSentenceEncoder

        index = asyncio.run(demo_index(LocalSentenceEncoder(DEFAULTS.encoder)))
    opened = CorpusIndex.open(index)
    propositions = list(proposition_indexes(index))
    if verify:
        opened.verify()
        for one in propositions:
            one.verify()
    sources = asyncio.run(opened.sources())
    encoder, dense = opened.manifest.encoder, opened.manifest.dense
    if as_json:
        record = {
            "passages": len(opened),
            "encoder": encoder.identity if encoder else None,
            "vectors": asdict(dense) if dense else None,
            "documents": sources,
            "propositions": [
                {
                    "extractor": one.manifest.extractor,
                    "passages": one.manifest.passages,
                    "propositions": len(one),
                }
                for one in propositions
            ],
        }
        print_json(record)
        return
    _report(index, opened)
    if verify:
        typer.echo("files: all as they were written")
    typer.echo(f"encoder: {encoder.identity if encoder else f'none ({BM25_ONLY})'}")
    for one in propositions:
        manifest = one.manifest
        typer.echo(
            f"propositions: {len(one)} of {manifest.passages} passages, extracted by "
            f"{plain(manifest.extractor)}"
        )
    for source in sources:
        typer.echo(f"  {plain(source)}")


async def index_documents(
    docs: Path, context: Context, progress: OnProgress, *, skip: bool
) -> Path:
    """Index a folder or file in the cache, or bring its index there up to date."""
    from ras_flow.indexes.sync import cached_index_path, sync_index
    from ras_flow.llms.sentence_encoder import LocalSentenceEncoder

    # Unlike Path.exists, this raises nothing if a name is too long or a folder closed to us.
    if not os.path.exists(docs):
        raise InputError(f"There is nothing at {docs}: check the path.")
    encoder = None if context.retriever == "bm25" else LocalSentenceEncoder(context.encoder)
    docs = docs.resolve()
    path = cached_index_path(str(docs), encoder)
    await sync_index(path, read_and_tell([docs], skip=skip), encoder, progress)
    return path


def _opened(index: Path) -> CorpusIndex:
    """Open an index with its encoder, unless it has none or one that cannot be opened by name."""
    from ras_flow.indexes import CorpusIndex
    from ras_flow.indexes.opening import settings_of
    from ras_flow.llms.sentence_encoder import LocalSentenceEncoder

    name = settings_of(index).get("encoder")
    return CorpusIndex.open(index, encoder=LocalSentenceEncoder(name) if name else None)


def _work(work: Callable[[OnProgress], Awaitable[CorpusIndex]]) -> CorpusIndex:
    from ras_flow.cli.progress import progress_on

    async def shown() -> CorpusIndex:
        with progress_on() as progress:
            return await work(progress)

    return asyncio.run(shown())


def _held(documents: int, passages: int) -> str:
    return f"{counted(documents, 'document')}, {counted(passages, 'passage')}"


def _report(path: Path, index: CorpusIndex) -> None:
    manifest = index.manifest
    typer.echo(f"{path}: {_held(manifest.documents, manifest.passages)}")
    dense = manifest.dense
    if dense:
        recall = f", recall@5 {dense.recall:.3f} of flat's" if dense.sample else ""
        shards = f", {dense.shards} shards" if dense.shards > 1 else ""
        typer.echo(f"vectors: {dense.kind}{shards}{recall}")
