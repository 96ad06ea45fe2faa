"""A system that is not in the package, beside those that are."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from ras_flow.builder import METADATA
from ras_flow.errors import ConfigurationError, RunError
from ras_flow.evaluation.systems import Ingredients, find_system
from ras_flow.runs import open_runs
from ras_flow.runs.databases.sqlite import open_saver
from ras_flow.runs.reading import get_branch
from ras_flow.systems import System
from tests.evaluation.running.small import World, ask, config
from tests.graph import own_graph

NOTED = System(name="noted", about="one fact, without a search", build=own_graph.build)
DOCS = Path(__file__).parents[3] / "docs" / "evaluation.md"
TINY = """
from typing import TypedDict
from langgraph.graph import END, START, StateGraph
from ras_flow import RasInput, RasState
from ras_flow.evaluation.systems import EvalSystem
from ras_flow.state.kg import to_new_triples
from ras_flow.state.schema import make_passage

class State(TypedDict):
    question: str
    answer: str

def build(given):
    builder = StateGraph(State)
    builder.add_node("answer", lambda state: {"answer": "Narvik"})
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    return builder

def found(state):
    passage = make_passage("Narvik", "Narvik is in Norway.")
    hop = {"index": 0, "subquery": "?", "passages": [passage["id"]], "scores": [1.0]}
    facts = [["Narvik", "country", "Norway"], *(["Narvik", "has", f"pier {i}"] for i in range(9))]
    triples = to_new_triples([{"passage": passage["id"], "triples": facts}])
    return {"hops": [hop], "passages": {passage["id"]: passage}, "triples": triples}

def wired(retrieve, state=RasState):
    builder = StateGraph(state, input_schema=RasInput)
    builder.add_node("retrieve", retrieve)
    builder.add_node("answer", lambda state: {"answer": "Oslo", "stop_reason": "sufficient"})
    builder.add_edge(START, "retrieve")
    builder.add_edge("retrieve", "answer")
    builder.add_edge("answer", END)
    return builder

def build_facts(given):
    return wired(found)

class Clues(RasState):
    clues: list[str]

def build_clues(given):
    return wired(lambda state: {**found(state), "clues": ["Narvik"], "plans": []}, Clues)

CLUES = EvalSystem(kind="clues", about="with a channel of its own", build=build_clues)

def build_graph(given):
    facts = [["Narvik", "country", given.options["country"]]]
    triples = to_new_triples([{"passage": "a graph", "triples": facts}])
    hop = {"index": 0, "subquery": "?", "passages": [], "scores": []}
    return wired(lambda state: {"hops": [hop], "triples": triples})

GRAPH = EvalSystem(
    kind="graph", about="a graph of its own", build=build_graph,
    searches=False, plans=False, options={"country": "Norway"},
)
READS = EvalSystem(kind="reads", about="a model over triples", build=build_facts, baseline=True)
FACTS = EvalSystem(kind="facts", about="reads all that it found", build=build_facts)
TINY = EvalSystem(kind="tiny", about="knows one town", build=build, searches=False, plans=False)
"""


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that Python looks for modules in, with one of the system that the docs tell of."""
    folder = tmp_path / "modules"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    told = DOCS.read_text(encoding="utf-8").partition("## A system of your own")[2]
    [code] = re.findall(r"```python\n(.*?)```", told, re.DOTALL)
    (folder / "systems_of_mine.py").write_text(code, encoding="utf-8")
    (folder / "tiny_system.py").write_text(TINY, encoding="utf-8")
    return folder


async def test_a_system_of_ones_own_is_asked_beside_the_others(
    modules: Path, tmp_path: Path
) -> None:
    systems = {"mine": {"kind": "systems_of_mine:MINE", "top_k": [1, 2]}, "single": {}}
    world = World()
    report = await ask(config(tmp_path, systems), tmp_path, world)
    assert [one.system for one in report.standings] == ["mine-1", "mine-2", "single"]
    assert [one.score for one in report.standings] == [1 / 3] * 3
    async with open_runs(tmp_path / "out") as runs:
        row = report.standings[0].rows[0]
        branch = get_branch(await runs.document(row.run))
        assert (branch["answer"], len(branch["hops"])) == (row.outcome.answer, 1)
    world.calls.clear()
    await ask(config(tmp_path, systems), tmp_path, world)
    assert world.calls == []


async def test_graphs_of_all_kinds_are_asked_and_judged_by_what_they_found(
    modules: Path, tmp_path: Path
) -> None:
    systems = {
        "tiny": {"kind": "tiny_system:TINY"},
        # RAS's answerer would read one triple alone; of another graph, all count as read.
        "facts": {"kind": "tiny_system:FACTS", "max_triples": 1},
        "reads": {"kind": "tiny_system:READS"},
        "graph": {"kind": "tiny_system:GRAPH", "country": ["Norway", "Sweden"]},
    }
    report = await ask(config(tmp_path, systems), tmp_path, World())
    rows = {one.system: {row.id: row for row in one.rows} for one in report.standings}
    assert rows["tiny"]["born"].right
    assert {name: of["country"].error_class for name, of in rows.items()} == {
        "tiny": "from_memory",
        "facts": "answerer_wrong",
        "reads": "answerer_wrong",
        "graph-Norway": "answerer_wrong",
        "graph-Sweden": "retrieval_missed",
    }
    assert rows["facts"]["country"].outcome.triples == 10
    # Without a search for passages, none is missed.
    for name in ("graph-Norway", "graph-Sweden"):
        assert not rows[name]["country"].measures


async def test_a_registered_system_is_asked_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = "tests.evaluation.systems.test_own_system:NOTED"
    monkeypatch.setenv("RAS_FLOW_SYSTEMS", place)
    systems = {"noted": {"top_k": 3}, "by_place": {"kind": place}}
    report = await ask(config(tmp_path, systems), tmp_path, World())
    for standing in report.standings:
        assert [len(row.outcome.hops) for row in standing.rows] == [1, 1, 1]
        for row in standing.rows:
            assert row.outcome.answer and row.outcome.stop_reason == "sufficient"
            assert row.error_class not in ("stopped_early", "wandered")
    async with open_saver(tmp_path / "out") as saver:
        saved = [one async for one in saver.alist(None)]
    assert {one.metadata[METADATA] for one in saved} == {"noted"}  # type: ignore[typeddict-item]


async def test_a_run_of_a_graph_with_channels_of_its_own_is_shown_as_the_others(
    modules: Path, tmp_path: Path
) -> None:
    asked = config(tmp_path, {"clues": {"kind": "tiny_system:CLUES"}})
    rows = (await ask(asked, tmp_path, World())).standings[0].rows
    async with open_runs(tmp_path / "out") as runs:
        assert {run.id for run in await runs.recent()} == {row.run for row in rows}
        branch = get_branch(await runs.document(rows[0].run))
        assert (branch["answer"], len(branch["hops"])) == ("Oslo", 1)
        with pytest.raises(RunError, match="system 'clues'"):
            await anext(runs.fork(rows[0].run, branch["steps"][-2]))
    builder = find_system("tiny_system:CLUES").build(Ingredients(parts=World().parts))
    async with open_runs(tmp_path / "out", builder=builder) as runs:
        assert (await runs.history(rows[0].run))[-1].values["clues"] == ["Narvik"]


def test_an_option_is_of_the_kind_of_its_default(modules: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="systems: graph: country.*3"):
        config(tmp_path, {"graph": {"kind": "tiny_system:GRAPH", "country": 3}})
    for share in ("half", "0.5", True):
        with pytest.raises(ConfigurationError, match=f"ras_share: share.*not {share!r}"):
            config(tmp_path, {"ras_share": {"share": share}})
    assert config(tmp_path, {"ras_share": {"share": 1}}).systems[0].options["share"] == 1.0


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("mine", "direct.*registered.*module:attribute"),
        ("no_such_module:MINE", "cannot be imported.*no_such_module.*PYTHONPATH"),
        ("systems_of_mine:OTHER", "cannot be imported.*OTHER"),
        ("systems_of_mine:Mine", "is a type: name an EvalSystem"),
        (".relative:MINE", "cannot be imported"),
    ],
)
def test_a_system_that_cannot_be_had_is_said_why(modules: Path, kind: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        find_system(kind)


ODD = """
from ras_flow.evaluation.systems import EvalSystem
from tiny_system import END, START, State, StateGraph

said = {"answer": ["Narvik"], "hops": 2, "usage": {"total_tokens": 12}}

class Odd(State):
    hops: object
    usage: object

def build(given):
    builder = StateGraph(Odd)
    builder.add_node("answer", lambda state: dict(said))
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    return builder

ODD = EvalSystem(kind="odd", about="says what is no text", build=build, baseline=True, plans=False)
"""


async def test_a_graph_that_answers_with_no_text_costs_its_own_rows_alone(
    modules: Path, tmp_path: Path
) -> None:
    (modules / "odd_system.py").write_text(ODD)
    settings = config(tmp_path, {"odd": {"kind": "odd_system:ODD"}, "direct": {}})
    odd, direct = (await ask(settings, tmp_path, World())).standings
    assert len(odd.rows) == 3 and all(row.error_class == "failed" for row in odd.rows)
    assert all("`answer` is a list" in row.outcome.error for row in odd.rows)
    assert not any(row.outcome.error for row in direct.rows)
    # Once it is mended it is asked again, though its runs had come to their ends.
    sys.modules["odd_system"].said["answer"] = "Narvik"  # type: ignore[attr-defined]
    odd = (await ask(settings, tmp_path, World(), retry=True)).standings[0]
    assert {(row.outcome.answer, row.outcome.error) for row in odd.rows} == {("Narvik", "")}
