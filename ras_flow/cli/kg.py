"""ras-flow kg: build knowledge graphs, and look into them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ras_flow.cli.index import Encoder
from ras_flow.cli.options import path_argument, path_of, path_option
from ras_flow.cli.output import AsJson, log, print_json
from ras_flow.cli.render import counted
from ras_flow.formats.text import plain, scrub
from ras_flow.settings.context import DEFAULTS, DEMO_INDEX

if TYPE_CHECKING:
    from ras_flow.kg.source import GraphSource

app = typer.Typer(
    help="Build knowledge graphs from files of triples, and look into them.", no_args_is_help=True
)


def _graph_path(name: str) -> Path:
    """Return where a graph is; ``demo`` is the demo's, unless a folder has that name."""
    path = path_of(name)
    if name != DEMO_INDEX or path.exists():
        return path
    from ras_flow.demo.kg import demo_kg

    return asyncio.run(demo_kg())


Graph = Annotated[
    Path,
    typer.Argument(
        parser=_graph_path,
        metavar="KG",
        help="Folder of a graph, a SPARQL engine's TOML file, or demo.",
    ),
]
Most = Annotated[int, typer.Option(min=1, help="How many to show.")]


@app.command()
def build(
    kg: Annotated[Path, path_argument("KG", "Folder to build in.")],
    files: Annotated[
        list[Path], path_argument("FILES", ".tsv .jsonl .nt .nq .ttl, each also with .gz")
    ],
    labels: Annotated[
        list[Path] | None, path_option("Names: lines of id, name and aliases, with tabs between.")
    ] = None,
    kb: Annotated[
        str | None, typer.Option(help="Of JSON lines with a `kb`, take those of this one.")
    ] = None,
    encoder: Encoder = DEFAULTS.encoder,
    embed: Annotated[
        Literal["none", "relations", "all"],
        typer.Option(help="What gets vectors; entities take about an hour a million."),
    ] = "relations",
    skip: Annotated[bool, typer.Option("--skip", help="Leave out what cannot be read.")] = False,
) -> None:
    """Build a graph; an existing one is replaced when the new one is complete."""
    from ras_flow.cli.progress import shown_progress
    from ras_flow.kg.build import build_kg
    from ras_flow.kg.read import Faults
    from ras_flow.llms.sentence_encoder import LocalSentenceEncoder

    model = None if embed == "none" else LocalSentenceEncoder(encoder)
    if model:
        model.check()
    faults = Faults(skip=skip)
    with shown_progress() as show:
        work = build_kg(
            kg,
            files,
            labels=labels or (),
            kb=kb,
            encoder=model,
            embed=embed,
            faults=faults,
            progress=lambda doing, done: show(doing, done, None),
        )
        graph = asyncio.run(work)
    if faults.count:
        log(
            f"left out: {counted(faults.count, 'line')} that cannot be read, such as {faults.first}"
        )
    typer.echo(f"{kg}: {_size(graph.manifest.triples, len(graph), graph.manifest.relations)}")


@app.command()
def info(
    kg: Graph,
    verify: Annotated[bool, typer.Option("--verify", help="Check every file's hash.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what a graph holds."""
    from ras_flow.kg.store import KnowledgeGraph

    graph = KnowledgeGraph.open(kg)
    if verify:
        graph.verify()
    used = sorted(graph.relations, key=lambda one: -one.uses)
    if as_json:
        held = {"triples": graph.manifest.triples, "nodes": len(graph)}
        relations = [one._asdict() for one in used]
        print_json({**held, "identity": graph.identity, "relations": relations})
        return
    typer.echo(f"{kg}: {_size(graph.manifest.triples, len(graph), len(used))}")
    if verify:
        typer.echo("files: all as they were written")
    typer.echo(f"vectors: {graph.takes_vectors or 'none'}")
    for one in used:
        typer.echo(f"  {plain(one.name)}: {one.uses}")


@app.command()
def link(
    kg: Graph,
    question: Annotated[str, typer.Argument(help="A question.")],
    encoder: Encoder = DEFAULTS.encoder,
    as_json: AsJson = False,
) -> None:
    """Show which entities a question names."""
    [entities] = asyncio.run(_source(kg, encoder).link([scrub(question)]))
    if as_json:
        print_json(entities)
        return
    for one in entities:
        shown = f"{one['name']}  [{one['id']}]  {one['by']} {one['score']:.2f}: {one['mention']}"
        typer.echo(plain(shown))
    if not entities:
        typer.echo("The question names no entity of this graph.")


@app.command()
def facts(
    kg: Graph,
    entity: Annotated[str, typer.Argument(help="Name or id of an entity.")],
    most: Most = 20,
    as_json: AsJson = False,
) -> None:
    """Show the facts about an entity."""

    async def found() -> list[list[str]]:
        source = _source(kg)
        entities = await source.find([entity])
        [subgraph] = await source.subgraphs([entity], [entities[:1]], 1)
        topic = entities[0]["name"]
        stated = [list(subgraph.fact(at)) for at in range(len(subgraph))]
        return sorted(stated, key=lambda fact: (fact[0] != topic, fact[1:]))

    _show(asyncio.run(found()), " | ", most, as_json)


@app.command()
def paths(
    kg: Graph,
    start: Annotated[str, typer.Argument(metavar="FROM", help="Name or id of an entity.")],
    end: Annotated[str, typer.Argument(metavar="TO", help="Name or id of another.")],
    most: Most = 20,
    as_json: AsJson = False,
) -> None:
    """Show the shortest ways between two entities, up to four facts long."""
    from ras_flow.training.retriever.pool import Walks, make_pool

    async def found() -> list[list[str]]:
        source = _source(kg)
        entities = [(await source.find([name]))[0] for name in (start, end)]
        [subgraph] = await source.subgraphs([f"{start} {end}"], [entities], 2)
        topics = subgraph.topics.tolist()
        pool = make_pool(Walks(subgraph), topics[:1], topics[1:], neighbours=())
        ways = []
        for path in pool.paths:
            at, way = path.start, [subgraph.entities[path.start]]
            for triple, back in path.steps:
                head, relation, tail = subgraph.triples[triple].tolist()
                name = subgraph.relations[relation]
                at = head if back else tail
                way += [f"<-[{name}]-" if back else f"-[{name}]->", subgraph.entities[at]]
            ways.append(way)
        return ways

    _show(asyncio.run(found()), " ", most, as_json)


def _source(kg: Path, encoder: str | None = None) -> GraphSource:
    from ras_flow.kg.source import open_source
    from ras_flow.llms.sentence_encoder import LocalSentenceEncoder

    return open_source(kg, (lambda: LocalSentenceEncoder(encoder)) if encoder else None)


def _show(rows: list[list[str]], between: str, most: int, as_json: bool) -> None:
    if as_json:
        print_json(rows[:most])
        return
    for row in rows[:most]:
        typer.echo(plain(between.join(row)))
    if len(rows) > most:
        log(f"{len(rows) - most} more: see --most.")
    if not rows:
        typer.echo("Nothing found.")


def _size(triples: int, nodes: int, relations: int) -> str:
    return (
        f"{counted(triples, 'triple')}, {counted(nodes, 'node')}, {counted(relations, 'relation')}"
    )
