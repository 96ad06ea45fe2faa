"""ras-flow search: what an index has on a query, without a model that answers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ras_flow.cli.options import path_argument
from ras_flow.cli.output import AsJson, print_json
from ras_flow.errors import InputError
from ras_flow.formats.text import plain, scrub
from ras_flow.settings.context import Context

if TYPE_CHECKING:
    from ras_flow.parts.records import ScoredPassage


def search(
    index: Annotated[
        Path, path_argument("INDEX", "Folder of an index, a vector database's TOML file, or: demo.")
    ],
    query: Annotated[str, typer.Argument(help="What to look for.")],
    top_k: Annotated[int, typer.Option(min=1, help="How many passages.")] = 5,
    retriever: Annotated[
        str | None,
        typer.Option(help="hybrid, bm25 or dense; hybrid if left out, bm25 without vectors."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the passages of an index that are nearest to a query, best first."""
    from ras_flow.indexes.opening import settings_of

    query = scrub(query)
    if not query.strip():
        raise InputError("The query is empty: ras-flow search INDEX 'pumps in Narvik'")
    settings = settings_of(index) | ({"retriever": retriever} if retriever else {})
    found = asyncio.run(_found(Context.from_mapping(settings), query, top_k))
    if as_json:
        print_json([{**passage, "score": score} for passage, score in found])
        return
    for number, (passage, _) in enumerate(found, start=1):
        typer.echo(f"{number}. {plain(passage['title'])}  [{plain(passage.get('source', ''))}]")
        for line in passage["text"].splitlines():
            indent = " " * (len(line) - len(line.lstrip()))
            typer.echo(f"   {indent}{plain(line)}")
    if not found:
        typer.echo("Nothing found: try other words.")


async def _found(context: Context, query: str, top_k: int) -> list[ScoredPassage]:
    from ras_flow.parts.named import open_retriever_of

    [found] = await (await open_retriever_of(context)).retrieve([query], top_k)
    return found
