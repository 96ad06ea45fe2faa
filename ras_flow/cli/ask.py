"""ras-flow ask: one question through the graph."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from ras_flow.cli.documents import Skip
from ras_flow.cli.options import encoder_name, path_option
from ras_flow.cli.output import AsJson
from ras_flow.cli.runs.options import Database
from ras_flow.cli.settings import (
    ANSWER,
    DOCUMENTS,
    MODELS,
    BaseUrl,
    Set,
    named_in,
    read_settings,
    refuse_foreign,
)
from ras_flow.errors import InputError
from ras_flow.formats.text import scrub
from ras_flow.settings.context import DEFAULTS, DEMO_INDEX, Context
from ras_flow.settings.tasks import TASKS
from ras_flow.systems import DEFAULT, System, named_system

NO_DOCUMENTS = (
    "Name what to answer from: --docs FOLDER or --index INDEX; --index demo is the demo corpus."
)
NO_GRAPH = "Name a knowledge graph to answer from: --kg GRAPH; --kg demo is the demo graph."

REG = "reg"
"""The system that answers from a knowledge graph alone."""

Pause = StrEnum("Pause", ["after_link", "before_retrieval", "after_merge", "before_answer"])

_documents_option = partial(typer.Option, rich_help_panel=DOCUMENTS)
_models_option = partial(typer.Option, rich_help_panel=MODELS)
_answer_option = partial(typer.Option, rich_help_panel=ANSWER)

Model = Annotated[
    str | None, _models_option(help="provider:model, local:NAME_OR_PATH or vllm:NAME_OR_PATH.")
]


def ask(
    arguments: typer.Context,
    question: Annotated[
        str | None, typer.Argument(help="The question; with --index demo it may be left out.")
    ] = None,
    docs: Annotated[
        Path | None, path_option("A folder or file of documents to answer from.", panel=DOCUMENTS)
    ] = None,
    index: Annotated[
        Path | None,
        path_option(
            "An index made by `ras-flow index build`, a vector database's TOML file, or demo, the "
            "demo corpus.",
            panel=DOCUMENTS,
        ),
    ] = None,
    kg: Annotated[
        Path | None,
        path_option(
            "A knowledge graph made by `ras-flow kg build`, a TOML file that names a server, or "
            "demo; without documents, the system reg answers.",
            panel=DOCUMENTS,
        ),
    ] = None,
    entities: Annotated[
        list[str] | None,
        _documents_option(
            "--entity",
            metavar="NAME",
            help="An entity of the graph that the question is about; may be given several times.",
        ),
    ] = None,
    given: Annotated[
        Path | None,
        path_option(
            "A folder or file of documents to start from, without a search.", panel=DOCUMENTS
        ),
    ] = None,
    skip: Skip = False,
    static: Annotated[
        bool, _documents_option("--static", help="Answer from --given alone, without planning.")
    ] = False,
    instruction: Annotated[str, _answer_option(help="How to answer.")] = "",
    model: Annotated[
        str | None, _models_option(help="One model for every role of the system.")
    ] = None,
    planner: Model = None,
    extractor: Annotated[
        str | None, _models_option(help="The same; or none: passages are read as text.")
    ] = None,
    answerer: Model = None,
    base_url: BaseUrl = None,
    retriever: Annotated[
        str | None,
        _documents_option(
            help="hybrid, bm25 or dense; hybrid if left out, bm25 for an index without vectors."
        ),
    ] = None,
    encoder: Annotated[
        str | None,
        _documents_option(
            parser=encoder_name,
            metavar="TEXT",
            help="Sentence encoder: a folder or a name; the index's own if left out.",
        ),
    ] = None,
    loop: Annotated[
        str | None,
        _answer_option(
            help="one_call or paper; if left out, one call a hop for one model in all roles."
        ),
    ] = None,
    reads: Annotated[
        str, _answer_option(help="Of earlier hops, with one call a hop: facts, passages or both.")
    ] = DEFAULTS.reads,
    task: Annotated[
        str | None,
        _answer_option(
            help=f"Preset of instruction and length: {', '.join(TASKS)}; if left out, qa with one "
            "call a hop, else short_qa."
        ),
    ] = None,
    top_k: Annotated[
        int | None,
        _documents_option(
            help="Passages for each subquery; if left out, as many as the answerer reads best."
        ),
    ] = None,
    max_hops: Annotated[
        int | None,
        _answer_option(help="Subqueries at most; if left out, as many as suit the answerer."),
    ] = None,
    more: Set = None,
    pause: Annotated[
        list[Pause] | None,
        _answer_option(help="Wait for your approval or edits there; may be given several times."),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(
            help="Which system answers: ras, t2rag, reg, or another's name or module:attribute."
        ),
    ] = None,
    database: Database = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question; show plan, passages, triples and answer as they happen."""
    if docs is not None and index is not None:
        raise InputError("Give --docs or --index, not both.")
    if static and given is None:
        raise InputError("--static answers from given documents: name them with --given FILE.")
    alone = kg is not None and docs is None and index is None and given is None
    system = system or (REG if alone else DEFAULT)
    known = named_system(system)
    read_as_text = [f"--{name}" for name, path in (("docs", docs), ("given", given)) if path]
    if read_as_text and not known.documents:
        raise InputError(
            f"{known.name} answers from a knowledge graph and reads no documents: leave out "
            f"{' and '.join(read_as_text)}, or ask with --system {DEFAULT}, which reads both."
        )
    is_demo = DEMO_INDEX in (str(index), str(kg)) and given is None
    question = _question(question, is_demo=is_demo, of_graph=alone)
    # What is left out is for the graph to say: that of a server may have settings of its own.
    values: dict[str, Any] = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in arguments.params.items()
        if name in Context.model_fields and name != "index" and _is_given(arguments, name)
    }
    if entities:
        values["entities"] = entities
    if static:
        values["planning"] = "static"
    values |= {f"pause_{point}": True for point in pause or ()}
    if index is not None:
        values = _index_settings(index, database) | values
    if model:
        values = dict.fromkeys(known.context.model_roles, model) | values
    refuse_foreign([*values, *named_in(more)], known)
    values |= read_settings(more, known.context)
    asyncio.run(_ask(known, system, question, given, docs, values, skip, database, as_json))


def _is_given(arguments: typer.Context, option: str) -> bool:
    source = arguments.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _question(given: str | None, *, is_demo: bool, of_graph: bool) -> str:
    """Return the question, of a demo its own where none is given."""
    if given is None and is_demo:
        from ras_flow.demo import default_question, graph_questions

        return graph_questions()[0]["question"] if of_graph else default_question()
    question = scrub(given or "")  # Arguments need not be UTF-8.
    if not question.strip():
        raise InputError(
            "The question is empty. Ask something: ras-flow ask 'Who …?' --docs FOLDER"
        )
    return question


def _index_settings(index: Path, database: str | None) -> dict[str, str]:
    """Return the settings that search an index; a server knows its own by name."""
    from ras_flow.indexes.opening import settings_of
    from ras_flow.runs.databases.opening import is_server

    return {"index": str(index)} if is_server(database) else settings_of(index)


async def _ask(
    known: System,
    system: str,
    question: str,
    given: Path | None,
    docs: Path | None,
    settings: dict[str, Any],
    skip: bool,
    database: str | None,
    as_json: bool,
) -> None:
    from ras_flow.cli.index import index_documents
    from ras_flow.cli.progress import progress_on
    from ras_flow.cli.render import Screen
    from ras_flow.cli.runs.change import follow, tell
    from ras_flow.nodes.start import open_all
    from ras_flow.parts.chosen import Parts
    from ras_flow.runs.databases.opening import is_server, open_runs_at
    from ras_flow.state.channels import RasInput

    begun = perf_counter()
    context = known.context.from_mapping(settings)
    on_server = is_server(database)
    if on_server and docs is not None:
        raise InputError(
            "A server reads no folder of this machine: name an index of its own with --index, or "
            "ask here with --database FOLDER."
        )
    # What is wrong with a name or key is said before any work is done or paid for.
    parts = Parts()
    if not on_server:  # It has keys and models of its own.
        await parts.check(context, context.model_roles)
    documents = [] if given is None else _documents(given, skip)
    searches = given is None or (
        "planner" in context.model_roles and context.planning == "iterative"
    )
    if searches and docs is None and {context.index, context.kg} == {None} and not on_server:
        needed = [NO_DOCUMENTS] * known.documents + [NO_GRAPH] * ("kg" not in context.unread)
        needed += ["Or answer from --given alone, with --static."] * (given is not None)
        raise InputError(" ".join(needed))
    screen = Screen(quiet=as_json, tells=known.tells)
    if docs is not None:
        with progress_on(screen.console) as progress:
            path = await index_documents(docs, context, progress, skip=skip)
        settings["index"] = str(path)
        context = known.context.from_mapping(settings)
    if searches and not on_server:
        await open_all(parts, context)
    async with open_runs_at(database, system=system, new=True) as runs:
        run_id = runs.new_id()
        screen.run(run_id)
        asked = RasInput(question=question, documents=documents)
        await follow(runs.start(asked, settings, run_id=run_id), run_id, screen)
        await tell(runs, run_id, as_json, clock=perf_counter() - begun)


def _documents(given: Path, skip: bool) -> list[Any]:
    from ras_flow.cli.documents import read_and_tell
    from ras_flow.documents.split import split_document

    documents: list[Any] = []
    for one in read_and_tell([given], skip=skip):
        if one.blocks:
            documents += split_document(one)
        else:
            documents.append({"title": one.title, "text": one.text, "source": one.source})
    return documents
