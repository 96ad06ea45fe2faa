"""What answers are judged by: documents, gold support, and what the answerer read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ras_flow.errors import (
    ConfigurationError,
)
from ras_flow.evaluation.benchmarks import FORMS
from ras_flow.evaluation.loading import load_questions
from ras_flow.evaluation.metrics import CORPUS_METRICS
from ras_flow.evaluation.question import Support
from ras_flow.evaluation.rows import open_rows
from ras_flow.parts import PlanRequest, Reply
from ras_flow.testing import ScriptedPlanner
from tests.evaluation.running.small import (
    QUESTIONS,
    SYSTEMS,
    World,
    ask,
    config,
    rows_of,
    run,
    write_questions,
)
from tests.graph.world import DOCUMENTS, QUESTION


@pytest.mark.parametrize(
    ("retrieval", "reason", "found"), [("given", "static", 4), ("corpus", "sufficient", 2)]
)
async def test_given_documents_are_read_or_pooled_as_the_benchmark_says(
    tmp_path: Path, retrieval: str, reason: str, found: int
) -> None:
    table = {"format": "jsonl", "path": "questions.jsonl", "retrieval": retrieval}
    settings = config(tmp_path, SYSTEMS, benchmarks={"small": {**table, "retriever": "bm25"}})
    write_questions(tmp_path, [{**QUESTIONS[2], "documents": DOCUMENTS}])
    world = World()
    report = await ask(settings, tmp_path, world, parts=replace(world.parts, retriever=None))
    outcomes = {one.system: one.rows[0].outcome for one in report.standings}
    assert outcomes["single"].stop_reason == outcomes["ras"].stop_reason == reason
    assert outcomes["single"].answer == "Leo Fahr"
    assert not outcomes["direct"].hops
    assert len(outcomes["ras"].hops[0].passages) == found


async def test_all_answers_are_judged_together_once_they_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def share_of_narvik(said: list[str], questions: Sequence[Any]) -> float:
        return said.count("Narvik") / len(questions)

    monkeypatch.setitem(CORPUS_METRICS, "share_of_narvik", share_of_narvik)
    monkeypatch.setitem(
        FORMS, "jsonl", replace(FORMS["jsonl"], corpus_metrics=("share_of_narvik",))
    )
    path = tmp_path / "out" / "corpus_scores.json"
    table = {"format": "jsonl", "path": "questions.jsonl"}
    without = {"small": {**table, "corpus_metrics": False}}
    await run(tmp_path, World(), benchmarks=without)
    assert not path.exists()
    world = World()
    await run(tmp_path, world, benchmarks={"small": table})
    assert json.loads(path.read_text())["small/ras"] == {"share_of_narvik": 1 / 3}
    assert world.calls == []
    # Scores of all answers together belong to no single one.
    await run(tmp_path, world, benchmarks=without)
    assert not path.exists()


async def test_statements_without_titles_are_found_by_their_text(tmp_path: Path) -> None:
    row = {
        "qid": "s1",
        "question": "Who designed the Harbour Bridge?",
        "answer": True,
        "facts": ["The Harbour Bridge was designed by Leo Fahr.", "Harbour water is wet."],
        "decomposition": [],
        "evidence_titles": ["Harbour Bridge", "Water"],
    }
    (tmp_path / "strategy.jsonl").write_text(json.dumps(row) + "\n")
    benchmark = {"strategyqa": {"path": "strategy.jsonl", "retriever": "bm25"}}
    for top_k, recall, error in ((2, 1.0, "answerer_wrong"), (1, 0.5, "retrieval_missed")):
        world = World()
        settings = config(tmp_path, {"single": {}}, benchmarks=benchmark, settings={"top_k": top_k})
        parts = replace(world.parts, retriever=None)
        report = await ask(settings, tmp_path / str(top_k), world, parts=parts)
        [one] = report.standings[0].rows
        assert (one.measures["recall"], one.error_class) == (recall, error)
    # No other corpus has these very sentences.
    elsewhere = {"strategyqa": {**benchmark["strategyqa"], "index": "demo"}}
    [(_, loaded)] = load_questions(config(tmp_path, {"single": {}}, benchmarks=elsewhere))
    assert loaded.questions[0].support == (Support("Harbour Bridge"), Support("Water"))


async def test_what_answers_are_judged_by_may_change_without_asking_again(tmp_path: Path) -> None:
    bare = [{name: row[name] for name in ("id", "question", "answers")} for row in QUESTIONS]
    mended = [{**row, "answers": ["Narvik"]} for row in QUESTIONS]
    settings = config(tmp_path, {"ras": {}})
    [benchmark] = settings.benchmarks
    for rows, form, metric, recall, right in (
        (bare, "jsonl", "f1", False, ["born", "country"]),
        (QUESTIONS, "jsonl", "f1", True, ["born", "country"]),
        (QUESTIONS, "popqa", "match", False, ["born", "country"]),
        (mended, "jsonl", "f1", True, ["born"]),
    ):
        settings = replace(settings, benchmarks=(benchmark.override({"format": form}),))
        write_questions(tmp_path, rows)
        world = World()
        await ask(settings, tmp_path, world)
        assert bool(world.calls) == (rows is bare)
        made = rows_of(tmp_path, "ras")
        assert [row.id for row in made if row.right] == right
        for row in made:
            assert (next(iter(row.scores)), "recall" in row.measures) == (metric, recall)


class FarFrom:
    """Finds all texts alike, but for those that have this word."""

    identity = "test:far"
    dimension = 2

    def __init__(self, word: str) -> None:
        self._word = word

    async def encode(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([[0, 1] if self._word in text else [1, 0] for text in texts], np.float32)


async def test_what_was_not_given_to_the_answerer_is_no_fault_of_its(tmp_path: Path) -> None:
    world = World()
    nearest = {"kind": "ras", "max_triples": 1}
    systems = {"ras": nearest, "whole": {"kind": "ras"}, "texts": nearest | {"answer_passages": 5}}
    systems["share"] = {"kind": "ras_share", "share": 0.1}
    parts = replace(world.parts, encoder=FarFrom("Leo Fahr"))
    await ask(config(tmp_path, systems), tmp_path, world, parts=parts)
    for system, kind in (
        ("ras", "not_read"),
        ("whole", "answerer_wrong"),
        ("texts", "answerer_wrong"),
        ("share", "not_read"),
    ):
        [row] = [row for row in rows_of(tmp_path, system) if row.id == "harbour"]
        assert (row.error_class, row.outcome.triples) == (kind, 3)
    assert "not read" in (tmp_path / "out" / "report.md").read_text()


@pytest.mark.parametrize(("retrieval", "refused"), [("given", True), ("corpus", False)])
async def test_answers_that_were_made_from_other_documents_are_not_kept_as_if_from_these(
    tmp_path: Path, retrieval: str, refused: bool
) -> None:
    table = {"format": "jsonl", "path": "questions.jsonl", "retrieval": retrieval}
    settings = config(tmp_path, {"single": {}, "direct": {}}, benchmarks={"small": table})
    for number, documents in enumerate([DOCUMENTS[:1], DOCUMENTS[2:]]):
        write_questions(tmp_path, [{**QUESTIONS[2], "documents": documents}])
        world = World()
        if number and refused:
            with pytest.raises(ConfigurationError, match="'harbour' has other documents"):
                await ask(settings, tmp_path, world)
        else:
            assert (await ask(settings, tmp_path, world)).finished
    assert world.calls == []


async def test_a_run_that_searched_for_nothing_counts_in_the_recall(tmp_path: Path) -> None:
    class Planner(ScriptedPlanner):
        async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
            asked = [one.question == QUESTION and not one.chain for one in requests]
            return [Reply("[SUBQ] x" if one else "[NO_RETRIEVAL]") for one in asked]

    world = World()
    systems = config(tmp_path, {"ras": {}, "ras_no_retrieval": {}, "direct": {}})
    await ask(systems, tmp_path, world, parts=replace(world.parts, planner=Planner([])))
    found = {row.id: row.measures for row in rows_of(tmp_path, "ras")}
    assert found["born"]["recall"] > 0
    names = ("recall", "all_support", "recall_first_hop", "gold_cited", "support")
    nothing = dict.fromkeys(names, 0.0)
    assert found["country"] == found["harbour"] == nothing
    for system in ("ras_no_retrieval", "direct"):
        measured = [row.measures for row in rows_of(tmp_path, system)]
        assert measured and all(one == {"support": 0.0} for one in measured), "it never searches"


async def test_what_is_asked_no_more_is_in_no_mean_and_no_report(tmp_path: Path) -> None:
    await run(tmp_path, World())
    fewer = {"small": {"format": "jsonl", "path": "questions.jsonl", "limit": 1}}
    report = await run(tmp_path, World(), benchmarks=fewer)
    assert report.finished and [len(one.rows) for one in report.standings] == [1, 1, 1]
    with open_rows(tmp_path / "out") as rows:
        assert len(rows.all()) == 9
        assert len(rows.current()) == 3 and len({row.id for row in rows.current()}) == 1
    assert "| ras | 1 |" in (tmp_path / "out" / "report.md").read_text().replace("*", "")
