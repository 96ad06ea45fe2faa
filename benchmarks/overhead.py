"""What the graph itself costs: time per node step, and bytes of SQLite per run.

Three loops carry the same content through the same 22 node steps of a five-hop run (25 passages
of 600 characters, 200 triples) with instant parts: a bare LangGraph loop that does no work, the
same with a naive state (every channel holds its whole value), and ras_flow. Run it with:

    python benchmarks/overhead.py [--runs 20]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import operator
import os
import platform
import statistics
import tempfile
from collections.abc import Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Overwrite

from ras_flow import Context, build_graph
from ras_flow.parts import Extraction, ScoredPassage
from ras_flow.runs.databases.sqlite import PAGE_SIZE
from ras_flow.state.schema import Passage, make_passage
from ras_flow.testing import ScriptedAnswerer, ScriptedPlanner

HOPS, TOP_K, TRIPLES, CHARACTERS = 5, 5, 8, 600
QUESTION = "Which of the stations on the northern line opened before the bridge was built?"


def passage(run: int, hop: int, rank: int) -> Passage:
    """Make one of the 25 passages."""
    text = (f"Passage {hop}.{rank} tells of station {hop} on line {rank}. " * 20)[:CHARACTERS]
    title = f"Station {run}.{hop}.{rank}"
    return make_passage(title, text)


def facts(run: int, hop: int, rank: int) -> list[tuple[str, str, str]]:
    """Make a passage's eight triples."""
    return [
        (f"Station {run}.{hop}.{rank}", f"relation number {i}", f"object {run}.{hop}.{rank}.{i}")
        for i in range(TRIPLES)
    ]


_runs = itertools.count()
"""Each run has names of its own, so that nothing cached by name helps the next."""


class Retriever:
    """The passages of hop i for the i-th query."""

    identity = "benchmark"

    def __init__(self) -> None:
        self._hop, self._run = -1, next(_runs)

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        """Return the next hop's passages."""
        self._hop += 1
        return [[ScoredPassage(passage(self._run, self._hop, rank), 1.0) for rank in range(k)]]


class Extractor:
    """Instant triples."""

    identity = "benchmark"
    batch_size = 16

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        """Read hop and rank from the title."""
        places = [map(int, p["title"].removeprefix("Station ").split(".")) for p in passages]
        return [Extraction(facts(*place)) for place in places]


def ras_builder() -> Any:
    """Build the RAS graph over instant parts."""
    plans = [f"[SUBQ] What opened on line {i}?" for i in range(HOPS)]
    return build_graph(
        planner=ScriptedPlanner(plans),
        retriever=Retriever(),
        extractor=Extractor(),
        answerer=ScriptedAnswerer("Station 3.2", takes_soft_tokens=False),
        defaults=Context(max_hops=HOPS),
    )


class Bare(TypedDict):
    """The same content in plain channels, appended once, as a first version would have it."""

    question: str
    hops: Annotated[list[Any], operator.add]
    passages: Annotated[list[Any], operator.add]
    extracted: list[Any]
    triples: Annotated[list[Any], operator.add]
    answer: str


def bare_builder() -> Any:
    """Build a LangGraph loop of the same steps that only copies ready-made content."""
    run = next(_runs)

    async def start(state: Bare) -> dict[str, Any]:
        return {"hops": Overwrite([]), "passages": Overwrite([]), "triples": Overwrite([])}

    async def plan(state: Bare) -> dict[str, Any]:
        return {"hops": [{"subquery": f"What opened on line {len(state['hops'])}?"}]}

    async def retrieve(state: Bare) -> dict[str, Any]:
        return {"passages": [passage(run, len(state["hops"]) - 1, rank) for rank in range(TOP_K)]}

    async def to_triples(state: Bare) -> dict[str, Any]:
        hop = len(state["hops"]) - 1
        return {"extracted": [fact for rank in range(TOP_K) for fact in facts(run, hop, rank)]}

    async def merge_graph(state: Bare) -> dict[str, Any]:
        return {"triples": state["extracted"], "extracted": []}

    async def answer(state: Bare) -> dict[str, Any]:
        return {"answer": "Station 3.2"}

    def route(state: Bare) -> str:
        return "answer" if len(state["hops"]) >= HOPS else "plan"

    builder = StateGraph(Bare)
    for node in (start, plan, retrieve, to_triples, merge_graph, answer):
        builder.add_node(node.__name__, node)
    builder.add_edge(START, "start")
    builder.add_edge("start", "plan")
    builder.add_edge("plan", "retrieve")
    builder.add_edge("retrieve", "to_triples")
    builder.add_edge("to_triples", "merge_graph")
    builder.add_conditional_edges("merge_graph", route, ["plan", "answer"])
    builder.add_edge("answer", END)
    return builder


@asynccontextmanager
async def saver(kind: str, path: Path) -> Any:
    """Open a checkpointer: none, memory or sqlite."""
    if kind == "sqlite":
        async with AsyncSqliteSaver.from_conn_string(str(path)) as made:
            await made.conn.execute(f"PRAGMA page_size={PAGE_SIZE}")
            yield made
    else:
        yield InMemorySaver() if kind == "memory" else None


async def once(make: Any, kind: str, folder: Path) -> tuple[float, int, int]:
    """Run one question: seconds, node steps, bytes of the database."""
    path = folder / "runs.sqlite"
    path.unlink(missing_ok=True)
    async with saver(kind, path) as made:
        graph = make().compile(checkpointer=made)
        config: Any = {"configurable": {"thread_id": "t"}}
        steps = 0
        began = perf_counter()
        async for _ in graph.astream({"question": QUESTION}, config, stream_mode="updates"):
            steps += 1
        seconds = perf_counter() - began
    return seconds, steps, path.stat().st_size if kind == "sqlite" else 0


async def growth(make: Any, folder: Path, more: int = 10) -> float:
    """Return the bytes by which a database that has a run grows with each further one."""
    path = folder / "many.sqlite"
    sizes = []
    for count in (1, 1 + more):
        path.unlink(missing_ok=True)
        async with saver("sqlite", path) as made:
            for number in range(count):
                config: Any = {"configurable": {"thread_id": f"{number:012x}"}}
                await make().compile(checkpointer=made).ainvoke({"question": QUESTION}, config)
        sizes.append(path.stat().st_size)
    return (sizes[1] - sizes[0]) / more


async def main(runs: int) -> None:
    """Run both loops in turn and print the table."""
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{runs} runs each, in turn; medians\n")
    print("| checkpointer | steps | bare ms/step | ras ms/step | ratio | bare KiB | ras KiB |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        more = [await growth(make, folder) / 1024 for make in (bare_builder, ras_builder)]
        for kind in ("none", "memory", "sqlite"):
            times: dict[Any, list[float]] = {bare_builder: [], ras_builder: []}
            counts, sizes = {}, {}
            for _ in range(runs + 1):
                for make, measured in times.items():
                    seconds, counts[make], sizes[make] = await once(make, kind, folder)
                    measured.append(seconds / counts[make] * 1000)
            bare, ras = (statistics.median(values[1:]) for values in times.values())
            ratios = [r / b for b, r in zip(times[bare_builder], times[ras_builder], strict=True)]
            print(
                f"| {kind} | {counts[ras_builder]} | {bare:.2f} | {ras:.2f} "
                f"| {statistics.median(ratios[1:]):.2f} "
                f"| {sizes[bare_builder] / 1024:.0f} | {sizes[ras_builder] / 1024:.0f} |"
            )
    print(f"\nEach further run in the same database: bare {more[0]:.1f} KiB, ras {more[1]:.1f} KiB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20)
    asyncio.run(main(parser.parse_args().runs))
