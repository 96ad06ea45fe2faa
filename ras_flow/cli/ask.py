"""ras-flow ask: one question through the graph."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated, Any

import typer

from ras_flow.context import DEMO_INDEX, Context
from ras_flow.errors import InputError

Model = Annotated[str | None, typer.Option(help="provider:model, or local:NAME_OR_PATH.")]


def ask(
    question: Annotated[
        str | None, typer.Argument(help="The question; the demo's own if left out.")
    ] = None,
    docs: Annotated[
        Path | None, typer.Option(help="A folder or file of documents to answer from.")
    ] = None,
    index: Annotated[
        Path | None, typer.Option(help="An index made by `ras-flow index build`.")
    ] = None,
    given: Annotated[
        Path | None,
        typer.Option(help="A .jsonl file of documents (title, text) to start from: t0."),
    ] = None,
    static: Annotated[
        bool, typer.Option("--static", help="Answer from --given alone, without planning.")
    ] = False,
    instruction: Annotated[str, typer.Option(help="How to answer.")] = "",
    model: Annotated[
        str | None, typer.Option(help="One model for planner, extractor and answerer.")
    ] = None,
    planner: Model = None,
    extractor: Model = None,
    answerer: Model = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of a compatible model server.")
    ] = None,
    retriever: Annotated[str, typer.Option(help="hybrid, bm25 or dense.")] = "hybrid",
    task: Annotated[str, typer.Option(help="Preset of instruction and length.")] = "short_qa",
    top_k: Annotated[int, typer.Option(help="Passages for each subquery.")] = 5,
    max_hops: Annotated[int, typer.Option(help="Subqueries at most.")] = 5,
    max_tokens: Annotated[int | None, typer.Option(help="Token budget of the run.")] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Time budget of the run.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object and nothing else.")
    ] = False,
) -> None:
    """Answer a question; show plan, passages, triples and answer as they happen."""
    if docs is not None and index is not None:
        raise InputError("Give --docs or --index, not both.")
    if question is None:
        if docs is not None or index is not None or given is not None:
            raise InputError("Ask something: ras-flow ask 'Who …?' --docs FOLDER")
        from ras_flow.demo import default_question

        question = default_question()
    values: dict[str, Any] = {
        "retriever": retriever,
        "task": task,
        "instruction": instruction,
        "top_k": top_k,
        "max_hops": max_hops,
        "max_tokens": max_tokens,
        "max_seconds": max_seconds,
        "base_url": base_url,
        "planning": "static" if static else "iterative",
        "index": str(index.resolve()) if index else DEMO_INDEX,
    }
    for role, name in {"planner": planner, "extractor": extractor, "answerer": answerer}.items():
        if name or model:
            values[role] = name or model
    context = Context.from_mapping(values)
    asyncio.run(_ask(question, given, docs, context, as_json))


async def _ask(
    question: str,
    given: Path | None,
    docs: Path | None,
    context: Context,
    as_json: bool,
) -> None:
    from dataclasses import replace

    from ras_flow.cli.index import index_documents
    from ras_flow.cli.progress import Progress
    from ras_flow.cli.render import Screen
    from ras_flow.runs import open_runs
    from ras_flow.runs.library import new_run_id

    screen = Screen(quiet=as_json)
    if docs is not None:
        with Progress(screen.console) as progress:
            path = await index_documents([docs], context, progress)
        context = replace(context, index=str(path))
    run_id = new_run_id()
    async with open_runs() as runs:
        screen.run(run_id)
        async for event in runs.start(
            {"question": question, "documents": _documents(given)},
            context,
            run_id=run_id,
        ):
            screen.show(event)
        if as_json:
            typer.echo(json.dumps((await runs.get(run_id)).result(), ensure_ascii=False))


def _documents(path: Path | None) -> list[Any]:
    if path is None:
        return []
    from ras_flow.retrieval.documents import read_documents

    return [{"title": document.title, "text": document.text} for document in read_documents([path])]
