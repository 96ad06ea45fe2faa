"""Stored runs of ReG: shown, explained, edited and exported as those of other systems are."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from ras_flow.cli.explanation import show_explanation
from ras_flow.cli.render import Screen
from ras_flow.cli.timeline import Timeline
from ras_flow.kg.build import build_kg
from ras_flow.kg.source import open_source
from ras_flow.kg.store import KnowledgeGraph
from ras_flow.reg.graph import SYSTEM, build_reg
from ras_flow.reg.settings import RegContext
from ras_flow.runs.databases.opening import open_runs_at
from ras_flow.runs.export.rdf import to_turtle
from ras_flow.runs.reading import get_branch
from ras_flow.runs.why import explain
from ras_flow.runs.without import answers_without
from ras_flow.tool import as_tool
from tests.graph.world import QUESTION, build, world
from tests.page.server import serving
from tests.reg.world import SmallGraph, Words
from tests.runs.stories import TOP1, branch, events, steps, told

ASKED = "Which championship did the team with the mascot Lou Seal win?"
ENDS = RegContext(answerer="chain-ends")
HOSTILE = "<img src=x onerror=alert(1)> [bold red]a[/] \x1b[31mb → c; d"


async def test_a_run_is_shown_explained_and_forked_by_its_own_graph(tmp_path: Path) -> None:
    address = str(tmp_path / "home")
    async with open_runs_at(address, builder=build(world()).builder, new=True) as runs:
        await events(runs.start({"question": QUESTION}, TOP1, run_id="ras"))
    own = build_reg(knowledge=SmallGraph(), fact_retriever=Words(), defaults=ENDS)
    async with open_runs_at(address, builder=own) as runs:
        await events(runs.start({"question": ASKED}, {}, run_id="reg"))
        document = await runs.document("reg")
        assert told(document)[1:] == [
            *("start", "link", "retrieve:0", "to_triples:0", "merge_graph:0", "reorganise:0"),
            "answer",
        ]
        titles = [section["title"] for section in branch(document, 1)["sections"]]
        assert titles == ["Entities", "Chains", "Answers"]
        cited = explain(document)["triples"]
        assert [ground["score"] > 0 for ground in cited.values()] == [True] * 4
        merged = next(step for step in steps(document) if step["next"] == ["reorganise"])
        won = next(id for id, ground in cited.items() if ground["object"].startswith("2012"))
        drop = {"op": "drop_triple", "triple": won}
        told_next = await events(runs.fork("reg", merged["checkpoint"], [drop]))
        assert [event["type"] for event in told_next] == ["forked", "chains", "answer"]
        assert told_next[-1]["answers"] == ["2010 World Series", "2014 World Series"]
        parts = own.parts
        changed = [one async for one in answers_without(document, 1, parts=parts, limit=1)]
        assert [one["changed"] for one in changed] == [False, True]
        assert "sameAs <http://small/2000>" in to_turtle(document)
        assert [run.system for run in await runs.recent()] == ["reg", "ras"]


@pytest.fixture
async def hostile(tmp_path: Path) -> KnowledgeGraph:
    """A graph whose names are markup, escape codes and a megabyte."""
    rows = [("Lou Seal", "mascot of team", HOSTILE), (HOSTILE, "won championship", "y" * 1_000_000)]
    path = tmp_path / "facts.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    return await build_kg(tmp_path / "kg", [path])


async def test_names_of_a_graph_are_shown_as_text(hostile: KnowledgeGraph, tmp_path: Path) -> None:
    source = open_source(hostile.path)
    own = build_reg(knowledge=source, fact_retriever=Words(), defaults=ENDS)
    paper = Console(file=StringIO(), width=100, highlight=False)
    async with open_runs_at(str(tmp_path / "home"), builder=own, new=True) as runs:
        screen = Screen(console=paper, tells=SYSTEM.tells)
        for event in await events(runs.start({"question": ASKED}, {}, run_id="a")):
            screen.show(event)
        document = await runs.document("a")
        Timeline(document, get_branch(document), paper).show()
        show_explanation(explain(document), paper)
        async with serving(runs) as page:
            shown = (await page.get("api/runs/a"))["branches"][0]["sections"]
    printed = paper.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b" not in printed and "<img src=x onerror=alert(1)> [bold red]a[/]" in printed
    assert "\x1b" not in str(shown) and len(str(shown)) < 5_000
    assert any("<img" in line and "->" in line for line in shown[1]["lines"])


async def test_it_is_a_tool() -> None:
    own = build_reg(knowledge=SmallGraph(), fact_retriever=Words(), defaults=ENDS)
    said = await as_tool(own.compile()).ainvoke({"question": ASKED})
    assert said.startswith("Answer: 2010 World Series; ") and "[Lou Seal]" in said
