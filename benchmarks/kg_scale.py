"""Build time, memory, size and speed of the knowledge-graph store at many triples.

python -m benchmarks.kg_scale 1000000 10000000

Made triples: five a subject on average, objects skewed, 200 relations, and one hub with a tenth of
all edges (a million at 10 million triples). Each graph is built and opened in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

import numpy as np

_HUB = "Hub"


def write_facts(path: Path, triples: int) -> None:
    """Write made triples as TSV."""
    made = np.random.default_rng(7)
    nodes, relations, at_once = triples // 5, 200, 500_000
    with path.open("w") as file:
        for start in range(0, triples, at_once):
            size = min(at_once, triples - start)
            heads = made.integers(0, nodes, size).tolist()
            links = made.integers(0, relations, size).tolist()
            tails = (nodes * made.random(size) ** 2).astype(int).tolist()
            to_hub = (made.random(size) < 0.1).tolist()
            file.writelines(
                f"Entity {head} of Town {head % 997}\trelation {link}\t"
                + (_HUB if hub else f"Entity {tail} of Town {tail % 997}")
                + "\n"
                for head, link, tail, hub in zip(heads, links, tails, to_hub, strict=True)
            )


def memory(name: str) -> float:
    """Return a figure of this process's memory in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{name}:")[1].split()[0]) / 1000


def build(folder: Path, facts: Path) -> None:
    """Build the graph and print the figures."""
    from ras_flow.kg.build import build_kg

    start = time.perf_counter()
    graph = asyncio.run(build_kg(folder, [facts]))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    stored = folder / graph.manifest.generation
    sizes = {file.name: file.stat().st_size for file in stored.iterdir()}
    labels = sum(size for name, size in sizes.items() if name.endswith(".bytes.npy"))
    triples = graph.manifest.triples
    print(f"| triples, nodes | {triples:,}, {graph.manifest.nodes:,} |")
    print(f"| build | {seconds:.0f} s |")
    print(f"| peak memory of the build | {peak:,.0f} MB |")
    print(f"| bytes a triple, without labels | {(sum(sizes.values()) - labels) / triples:.1f} |")
    print(f"| bytes of labels a triple | {labels / triples:.1f} |")


def search(folder: Path) -> None:
    """Open the graph, ask it, and print the figures."""
    from ras_flow.kg.linking import link
    from ras_flow.kg.store import KnowledgeGraph

    before, start = memory("RssAnon"), time.perf_counter()
    graph = KnowledgeGraph.open(folder)
    print(f"| open | {time.perf_counter() - start:.2f} s |")
    made = np.random.default_rng(11)
    ids = [f"Entity {at} of Town {at % 997}" for at in made.integers(0, len(graph) // 2, 200)]
    ids = [id for id in ids if graph.node(id)]
    found = graph.subgraph([_HUB], 1)
    beside_hub = found.ids[int(found.triples[0, 0])]
    questions = [f"Where is {id} from?" for id in ids[:50]]
    calls = [
        ("neighbours of a node (depth 1)", [lambda id=id: graph.subgraph([id], 1) for id in ids]),
        ("depth 2, through the hub", [lambda: graph.subgraph([beside_hub], 2)] * 10),
        ("depth 2, from the hub", [lambda: graph.subgraph([_HUB], 2)] * 10),
        ("link a question", [lambda one=one: link(one, graph) for one in questions]),
        ("suggest for a misspelled name", [lambda: graph.similar(["Entty 12345 of Twn 5"])]),
    ]
    for name, some in calls:
        times = []
        for call in some:
            start = time.perf_counter()
            call()
            times.append(1000 * (time.perf_counter() - start))
        figures = f"{times[0]:.1f}, {np.median(times):.1f}, {max(times):.1f} ms"
        print(f"| {name}: first, median, worst | {figures} |")
    print(f"| anonymous memory after all that | {memory('RssAnon') - before:,.0f} MB |")


async def retrieve(folder: Path) -> None:
    """Link, cut out and score the facts around ten entities, and watch the event loop."""
    from ras_flow.kg.retrievers.opening import open_retriever
    from ras_flow.kg.source import GraphSource
    from ras_flow.kg.store import KnowledgeGraph
    from ras_flow.llms.sentence_encoder import LocalSentenceEncoder

    source = GraphSource(KnowledgeGraph.open(folder))
    retriever = open_retriever("local:default", LocalSentenceEncoder())
    near = source.graph.subgraph([_HUB], 1)
    times, facts, late = [], [], [0.0]

    async def watch() -> None:
        while True:
            start = time.perf_counter()
            await asyncio.sleep(0.005)
            late.append(time.perf_counter() - start - 0.005)

    for at, (head, _, _) in enumerate(near.triples[:11]):
        question = f"Where is {near.ids[head]} from?"
        watching = asyncio.create_task(watch()) if at else None
        start = time.perf_counter()
        [linked] = await source.link([question])
        [around] = await source.subgraphs([question], [linked], 2)
        await retriever.score([question], [around])
        times.append(time.perf_counter() - start)
        facts.append(len(around.triples))
        if watching:
            watching.cancel()
    print(f"| facts around an entity beside the hub: median | {np.median(facts):,.0f} |")
    print(f"| link, cut out and score them: first | {times[0]:.2f} s |")
    print(f"| the same, warm: median, worst | {np.median(times[1:]):.2f}, {max(times[1:]):.2f} s |")
    print(f"| longest that the event loop waited meanwhile | {1000 * max(late):.0f} ms |")


def main() -> None:
    """Run the steps, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("triples", type=int, nargs="*")
    parser.add_argument("--step", choices=("build", "search", "retrieve"))
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    if given.step == "build":
        build(given.folder / "kg", given.folder / "facts.tsv")
    elif given.step == "search":
        search(given.folder / "kg")
    elif given.step == "retrieve":
        asyncio.run(retrieve(given.folder / "kg"))
    for triples in given.triples:
        with tempfile.TemporaryDirectory() as folder:
            write_facts(Path(folder, "facts.tsv"), triples)
            print(f"\n| {triples:,} triples | {date.today()} |\n| --- | --- |", flush=True)
            for step in ("build", "search", "retrieve"):
                command = [sys.executable, "-m", "benchmarks.kg_scale"]
                subprocess.run([*command, "--step", step, "--folder", folder], check=True)


if __name__ == "__main__":
    main()
