"""ReG in an evaluation: benchmarks' graphs and entities, measures of facts, ceilings, going on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ras_flow.errors import ConfigurationError
from ras_flow.evaluation.config import parse_config
from ras_flow.evaluation.rows import Row
from ras_flow.evaluation.runner import Report, evaluate
from ras_flow.parts.chosen import Parts
from ras_flow.reg.settings import RegContext
from ras_flow.testing import HashEncoder, ListRetriever, ScriptedAnswerer, ScriptedPlanner
from tests.evaluation.running import small
from tests.reg.world import FACTS, SmallGraph, Words

TITLES = [f"20{year} World Series" for year in (10, 12, 14)]
WON = [[fact[0], fact[1], fact[2]] for fact in FACTS[:4]]
ROWS: list[dict[str, Any]] = [
    {
        "id": "won",
        "question": "Which championship did the team with the mascot Lou Seal win?",
        "answers": TITLES,
        "entities": ["Lou Seal"],
        "gold": WON,
        "triples": [*map(list, FACTS), ["Ada Lund", "lives in", "Narvik"]],
    },
    {
        "id": "lives",
        "question": "Where does Ada Lund live?",
        "answers": ["Hammerfest"],
        "entities": ["Ada Lund"],
        "gold": [["Ada Lund", "lives in", "Hammerfest"]],
        "triples": [["Ada Lund", "lives in", "Hammerfest"]],
    },
]


async def ask(folder: Path, systems: dict[str, Any], rows: Any = ROWS, **more: Any) -> Report:
    small.write_questions(folder, rows)
    table = {"format": "kg", "path": "questions.jsonl", **more}
    tables = {"benchmarks": {"small": table}, "systems": systems}
    models = {"models": {"answerer": "chain-ends"}}
    parts = Parts.of(encoder=HashEncoder(), fact_retriever=Words(), defaults=RegContext())
    return await evaluate(parse_config({**tables, **models}, folder), folder / "out", parts=parts)


def rows_of(folder: Path, system: str) -> dict[str, Row]:
    return {row.id: row for row in small.rows_of(folder, system)}


async def test_questions_are_asked_of_their_own_graphs(tmp_path: Path) -> None:
    await ask(tmp_path, {"reg": {}}, kg="own")
    rows = rows_of(tmp_path, "reg")
    assert rows["lives"].outcome.answers == ("Hammerfest",) and rows["lives"].right
    won = rows["won"]
    assert (set(won.outcome.answers), won.scores["set_f1"]) == (set(TITLES), 1)
    assert won.measures["fact_recall"] == won.measures["chain_coverage"] == 1
    assert won.measures["answer_recall"] == 1 and won.measures["outside"] == 0
    scores = json.loads((tmp_path / "out" / "corpus_scores.json").read_text())
    assert scores["small/reg"]["micro_f1"] == 1
    report = (tmp_path / "out" / "report.md").read_text()
    assert "### Facts" in report and "micro" in report
    # Nothing is asked, or built, a second time.
    built = sorted((tmp_path / "out" / "indexes").rglob("gen-*"))
    assert (await ask(tmp_path, {"reg": {}}, kg="own")).finished and len(built) == 2
    assert built == sorted((tmp_path / "out" / "indexes").rglob("gen-*"))


async def test_pooled_graphs_linked_entities_and_the_ceiling(tmp_path: Path) -> None:
    systems = {"reg": {"kg_triples": 1}, "gold": {"kind": "reg_gold", "kg_triples": 1}}
    await ask(tmp_path, systems, kg="pool", entities="linked")
    found = {name: rows_of(tmp_path, name)["lives"] for name in systems}
    # Of the two towns the graph knows, only the ceiling tells which is meant.
    assert found["gold"].measures["fact_precision"] == 1 and found["gold"].right
    assert found["gold"].outcome.answers == ("Hammerfest",)


async def test_a_file_of_triples_and_questions_that_it_answers(tmp_path: Path) -> None:
    facts = tmp_path / "facts.tsv"
    facts.write_text("".join("\t".join(fact) + "\n" for fact in FACTS))
    bare = [{key: value for key, value in row.items() if key != "triples"} for row in ROWS]
    await ask(tmp_path, {"reg": {}}, bare, kg="facts.tsv", answerable=True)
    assert rows_of(tmp_path, "reg").keys() == {"won"}
    with pytest.raises(ConfigurationError, match="bring no graphs"):
        await ask(tmp_path, {"reg": {}}, bare, kg="own")
    unnamed = [{**row, "entities": []} for row in ROWS]
    with pytest.raises(ConfigurationError, match="linked"):
        await ask(tmp_path, {"reg": {}}, unnamed, kg="pool", entities="given")
    with pytest.raises(ConfigurationError, match="set `kg`"):
        await ask(tmp_path, {"reg": {}}, bare)


async def test_what_its_own_graph_does_not_answer_is_asked_of_that_graph(tmp_path: Path) -> None:
    works = {"question": "Where does Ada Lund work?", "answers": [], "gold": []}
    rows = [*ROWS, {**ROWS[1], "id": "works", **works}]
    report = await ask(tmp_path, {"reg": {}}, rows, kg="own", unanswerable=1)
    _, unanswerable = report.standings
    assert [(row.id, row.outcome.error) for row in unanswerable.rows] == [("works", "")]


async def test_each_part_of_a_file_has_a_graph_of_its_own(tmp_path: Path) -> None:
    lives = {"a": "Hammerfest", "b": "Narvik"}
    facts = [{"triple": ["Ada Lund", "lives in", town], "kb": kb} for kb, town in lives.items()]
    (tmp_path / "facts.jsonl").write_text("".join(json.dumps(fact) + "\n" for fact in facts))
    asked = {"question": "Where does Ada Lund live?", "entities": ["Ada Lund"]}
    rows = [{**asked, "id": kb, "kb": kb, "answers": [town]} for kb, town in lives.items()]
    for kb, town in lives.items():
        system = {f"reg-{kb}": {"kind": "reg"}}
        await ask(tmp_path, system, rows, kg="facts.jsonl", split=kb)
        assert rows_of(tmp_path, f"reg-{kb}")[kb].outcome.answers == (town,)


def test_the_shipped_two_by_two_can_be_read() -> None:
    from ras_flow.evaluation.config import read_config

    config = read_config(Path("evaluation_configs/reg.toml"))
    assert {"reg", "reg_weak", "reg_list", "reg_weak_list"} <= {one.name for one in config.systems}


async def test_ras_searches_a_graph_beside_its_documents(tmp_path: Path) -> None:
    answerer = ScriptedAnswerer(
        lambda request: next(t["object"] for link in request.chain for t in link.triples)
    )
    parts = Parts.of(
        planner=ScriptedPlanner(["[SUBQ] x", "[SUFFICIENT]"]),
        retriever=ListRetriever([]),
        answerer=answerer,
        encoder=HashEncoder(),
        knowledge=SmallGraph(FACTS[:1]),
        fact_retriever=Words(),
    )
    small.write_questions(tmp_path, ROWS[:1])
    table = {"format": "kg", "path": "questions.jsonl"}
    tables = {"benchmarks": {"small": table}, "systems": {"ras_kg": {"extractor": "none"}}}
    await evaluate(parse_config(tables, tmp_path), tmp_path / "out", parts=parts)
    [row] = rows_of(tmp_path, "ras_kg").values()
    assert not row.outcome.error and row.outcome.triples == 1, row.outcome
