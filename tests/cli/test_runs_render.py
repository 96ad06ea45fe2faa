"""A run on a terminal: steps, comparison, graph, and text that stays text."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any, cast

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from rich.console import Console

from ras_flow import RasOutput, Runs
from ras_flow.cli.differences import show_comparison
from ras_flow.cli.explanation import show_explanation
from ras_flow.cli.render import graph_tree
from ras_flow.cli.timeline import Timeline, show_review
from ras_flow.formats.escapes import json_text
from ras_flow.runs.compare import compare
from ras_flow.runs.document import RunDocument
from ras_flow.runs.export import to_json
from ras_flow.runs.export.graphml import to_graphml
from ras_flow.runs.export.rdf import to_json_ld, to_turtle
from ras_flow.runs.systems import info_of
from ras_flow.runs.why import explain
from ras_flow.state.kg import triple_id
from ras_flow.state.schema import Passage, passage_id
from ras_flow.testing import ListRetriever, MappingExtractor
from ras_flow.tool import describe
from tests.cli.test_hostile import EVIL, FORBIDDEN
from tests.graph.world import DOCUMENTS, build, world
from tests.runs.documents import ADA, BORN, DESIGNER, SUBQUERY, Writer, first_answer


def paper() -> Console:
    """A console that behaves like a colour terminal's, but draws no colours."""
    return Console(
        file=StringIO(), force_terminal=True, color_system=None, highlight=False, width=100
    )


def lines_on(console: Console) -> list[str]:
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def timeline(document: RunDocument, number: int = 0) -> list[str]:
    console = paper()
    Timeline(document, document["branches"][number - 1], console).show()
    return [" ".join(line.split()) for line in lines_on(console)]


def test_steps_are_numbered_with_what_they_brought_and_cost() -> None:
    writer = Writer()
    first_answer(writer)
    shown = timeline(writer.document())
    assert shown[0] == "run run1, 2026-11-21T07:00:00Z"
    assert "2 plan:0 10 + 1 tokens, 0.25 s" in shown
    assert "6 plan:1 10 + 1 tokens, 0.25 s" in shown
    assert f"[SUBQ] {SUBQUERY}" in shown
    after = shown[shown.index("7 retrieve:1 0.25 s") + 1]
    assert after.startswith("1. p") and after.endswith(
        "Mira Lund Mira Lund was an engineer. She was born in Narvik."
    )
    assert f"+ {triple_id(*BORN)} Mira Lund | place of birth | Narvik [Mira Lund]" in shown
    # The answer comes before the steps, and again as the last word.
    answer = shown.index("Answer Narvik")
    assert answer < shown.index("2 plan:0 10 + 1 tokens, 0.25 s")
    said = shown[answer : shown.index("0 question")]
    assert "sufficient: the planner found the graph sufficient" in said
    assert "cites Mira Lund | place of birth | Narvik [Mira Lund]" in said
    assert shown[-len(said) :] == said
    assert "Cost 6 model calls, 100 tokens read, 10 written, 2.0 s of work" in shown
    # The first subquery is the question, whatever the planner wrote.
    assert "the planner wrote: [SUBQ] x" in shown


def test_passages_that_were_dropped_or_left_out_of_a_search_are_told() -> None:
    writer = Writer()
    first_answer(writer)
    document = writer.document()
    [branch] = document["branches"]
    left = {"passages": [], "scores": [], "known": 2, "weak": 1}
    branch["hops"][1] = {**branch["hops"][1], **left}
    shown = timeline(document)
    at = shown.index("7 retrieve:1 0.25 s")
    assert shown[at + 1].startswith("dropped p") and "2 passages" in shown[at + 2]
    assert shown[at + 3].split() == "not read: 1 passage far below the best".split()


def test_an_unusable_plan_is_shown_with_its_words() -> None:
    writer = Writer()
    writer.ask().plan("I think so", label=None)
    shown = timeline(writer.document())
    assert "not usable: There is no label." in shown
    assert "the planner wrote: I think so" in shown
    assert shown[-1] == "Unfinished. Go on with: ras-flow runs resume run1"


def test_a_branch_says_where_it_begins_and_which_others_there_are() -> None:
    writer = Writer()
    first = writer.ask().hop(writer.question, {"Aurora Bridge": [DESIGNER]})
    second = first.fork().edit(drop=DESIGNER).edit(add=ADA).answer("Ada Lund", "max_hops")
    second.settings["planner"] = "openai:other"
    first.answer("Mira Lund")
    shown = timeline(writer.document(), 2)
    assert shown[0].startswith("run run1, branch 2 of 2")
    assert "Settings planner=openai:other" in shown
    begins = shown.index("── from here on branch 2 ──")
    assert shown[begins + 1].startswith("5 edit")
    assert shown[begins + 2] == f"- {triple_id(*DESIGNER)} Aurora Bridge | designer | Mira Lund" + (
        " [Aurora Bridge]"
    )
    assert f"+ {triple_id(*ADA)} Aurora Bridge | designer | Ada Lund [no passage]" in shown
    assert shown[-2:] == [
        "1 sufficient (not supported) Mira Lund",
        "* 2 max_hops (not supported) Ada Lund from 1 after step 4",
    ]
    assert not any("from here on" in line for line in timeline(writer.document(), 1))


def test_a_run_that_waits_shows_what_is_asked_and_how_to_answer() -> None:
    console = paper()
    review = {
        "type": "review",
        "point": "after_merge",
        "subquery": "",
        "triples": {"abc": dict(zip(("subject", "predicate", "object"), BORN, strict=True))},
        "passages": ["p1"],
        "allowed": ["drop_triple", "drop_passage"],
        "problem": "Edit 1: there is no triple 'x'.",
    }
    passages = {"p1": Passage(id="p1", title="Mira Lund", text="She was born in Narvik.")}
    show_review(console, "run1", review, info_of("ras")["operations"], passages)
    shown = [" ".join(line.split()) for line in lines_on(console)]
    assert shown == [
        "Waits after the merge: is the graph right?",
        "Edit 1: there is no triple 'x'.",
        "abc Mira Lund | place of birth | Narvik",
        "p1 [Mira Lund]",
        "Go on with: ras-flow runs resume run1 --approve, or in its place any of "
        "--drop-triple TRIPLE, --drop-passage PASSAGE",
    ]


def test_a_comparison_marks_what_each_side_has_alone() -> None:
    writer = Writer()
    first = writer.ask().plan("[SUBQ] x", subquery=writer.question)
    first.hop(writer.question, {"Aurora Bridge": [DESIGNER]})
    second = first.fork().edit(add=ADA)
    first.plan(f"[SUBQ] {SUBQUERY}", subquery=SUBQUERY).hop(SUBQUERY, {"Mira Lund": [BORN]})
    first.answer("Narvik")
    second.answer("Ada Lund")
    console, document = paper(), writer.document()
    show_comparison(compare(document, 1, document, 2), console)
    shown = [" ".join(line.split()) for line in lines_on(console)]
    assert shown[0].startswith("- run1/1 Narvik sufficient 5 model calls, 90 tokens")
    assert shown[1].startswith("+ run1/2 Ada Lund sufficient")
    assert "Parting first in the triples of hop 0; shared up to step 5" in shown
    plan = shown.index("Plan 1")
    assert shown[plan + 1 : plan + 3] == [f"- [SUBQ] {SUBQUERY}", "+ (none)"]
    deciding = shown[shown.index("Answer differs") + 1 :]
    assert deciding == [
        f"- {triple_id(*BORN)} Mira Lund | place of birth | Narvik",
        f"+ {triple_id(*ADA)} Aurora Bridge | designer | Ada Lund",
        "made the difference: one answer rests on them, the other's graph lacks them",
    ]


def test_a_comparison_says_how_much_of_a_long_section_it_leaves_out() -> None:
    writer = Writer()
    first_answer(writer)
    first_answer(writer)
    document, console = writer.document(), paper()
    lines = [f"clue {number}" for number in range(42)]
    document["branches"][1]["sections"] = [{"title": "Clues", "lines": lines}]
    show_comparison(compare(document, 1, document, 2), console)
    shown = [" ".join(line.split()) for line in lines_on(console)]
    at = shown.index("Clues")
    assert (shown[at + 1], shown[at + 41]) == ("+ clue 0", "+ and 2 more")


def test_new_and_cited_triples_are_marked_in_the_tree() -> None:
    console = paper()
    fields = ("subject", "predicate", "object")
    triples = [
        {"id": id, **dict(zip(fields, fact, strict=True)), "passages": []}
        for id, fact in {"one": DESIGNER, "two": ADA, "six": BORN}.items()
    ]
    tree = graph_tree("Graph", triples, {"two", "six"}, cited={"one", "six"})  # type: ignore[arg-type]
    console.print(tree)
    shown = [line.lstrip("│├└─ ") for line in lines_on(console)]
    assert shown == [
        "Graph",
        "Aurora Bridge",
        "* designer → Mira Lund  one",
        "+ designer → Ada Lund  two",
        "Mira Lund",
        "+* place of birth → Narvik  six",
    ]


@pytest.fixture
def hostile() -> RunDocument:
    """A run with commands for terminals in every text."""
    writer = Writer(run=f"run{EVIL}", question=EVIL, texts={EVIL: EVIL})
    story = writer.ask().plan(EVIL, subquery=EVIL).plan(EVIL, label=None)
    fork = story.fork()
    for way in (story, fork):
        way.settings["planner"] = EVIL
        way.hop(EVIL, {EVIL: [(f"a {EVIL}", f"b {EVIL}", f"c {EVIL}")]})
    fork.edit(add=(EVIL, EVIL, EVIL)).answer(f"c {EVIL}")
    document = writer.document()
    document["branches"][1]["warnings"].append(EVIL)
    return document


def test_hostile_text_drives_no_terminal(hostile: RunDocument) -> None:
    console = paper()
    for branch in hostile["branches"]:
        Timeline(hostile, branch, console).show()
    show_comparison(compare(hostile, 1, hostile, 2), console)
    show_explanation(explain(hostile, 2), console)
    review = {
        "point": EVIL, "problem": EVIL, "subquery": EVIL, "triples": hostile["triples"],
    }  # fmt: skip
    show_review(console, "x", review, {EVIL: [EVIL]}, {})
    shown = lines_on(console)
    assert sum("[bold red]alarm[/bold red]" in line for line in shown) > 20
    for line in shown:
        assert not FORBIDDEN.search(line), repr(line)


@pytest.mark.parametrize("write", [to_json, to_graphml, to_json_ld, to_turtle])
def test_exports_that_are_printed_drive_no_terminal(write: object, hostile: RunDocument) -> None:
    text = write(hostile, 2)  # type: ignore[operator]
    assert "alarm" in text
    for line in text.split("\n"):
        assert not FORBIDDEN.search(line), repr(line)


def test_json_that_is_printed_keeps_its_meaning() -> None:
    text = json_text({"evil": EVIL, "é": "🙂"})
    assert not FORBIDDEN.search(text) and "🙂" in text
    assert json.loads(text) == {"evil": EVIL, "é": "🙂"}


NEWS = {"title": "Mira Lund", "text": "Mira Lund of Narvik was born in 1930."}
UNTITLED = {"text": "She was born in Narvik."}
BIRTH = "(S> Mira Lund| P> place of birth| O> Narvik)"


@pytest.mark.parametrize(
    ("documents", "named"),
    [
        ([DOCUMENTS[1], NEWS], "Mira Lund"),
        ([UNTITLED], passage_id("", UNTITLED["text"])),
    ],
    ids=["two of one title", "no title"],
)
async def test_the_passages_of_a_fact_are_named_once_each_and_by_id_without_a_title(
    documents: list[Any], named: str
) -> None:
    parts = world(
        retriever=ListRetriever(documents),
        extractor=MappingExtractor({"Mira Lund": BIRTH, "": BIRTH}),
    )
    runs = Runs(build(parts, checkpointer=InMemorySaver()))
    [_ async for _ in runs.start({"question": "Where was Mira Lund born?"}, run_id="a")]
    cited = f"cites Mira Lund | place of birth | Narvik [{named}]"
    assert cited in timeline(await runs.document("a"))
    told = describe(cast(RasOutput, (await runs.get("a")).state))
    assert f"- Mira Lund | place of birth | Narvik [{named}]" in told
