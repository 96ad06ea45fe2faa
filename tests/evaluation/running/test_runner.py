"""An evaluation on scripted models: rows, failures, ceilings, and going on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ras_flow.edits.parse import parse_edits
from ras_flow.edits.planning import OPERATIONS
from ras_flow.errors import (
    AuthenticationError,
    ConfigurationError,
    ModelResponseError,
    RunError,
)
from ras_flow.evaluation.rows import open_rows
from ras_flow.evaluation.runner import Standing
from ras_flow.graph import wire
from ras_flow.parts import AnswerRequest, Reply
from ras_flow.runs import open_runs
from ras_flow.runs.reading import get_branch
from ras_flow.testing import ScriptedAnswerer
from tests.evaluation.running.small import (
    QUESTIONS,
    SYSTEMS,
    World,
    ask,
    config,
    failing,
    rows_of,
    run,
    write_questions,
)
from tests.graph.world import QUESTION
from tests.runs.stories import events

HALF = {"kind": "ras_share", "share": 0.5}
COUNTRY = "answer In which country is Narvik?"


async def test_every_question_gets_a_row_in_the_benchmarks_order(tmp_path: Path) -> None:
    report = await run(tmp_path, World())
    assert report.finished and not report.ceiling
    for system in SYSTEMS:
        assert [row.id for row in rows_of(tmp_path, system)] == [q["id"] for q in QUESTIONS]
    scores = {one.system: one.score for one in report.standings}
    assert scores == {"direct": 0.0, "single": 1 / 3, "ras": 2 / 3}
    by_id = {row.id: row for row in rows_of(tmp_path, "ras")}
    born = by_id["born"]
    assert (born.outcome.answer, born.right, born.error_class) == ("Narvik", True, "")
    # The first search found both passages, so that the second was one too many.
    assert born.measures["all_support"] == 1.0 and born.measures["label_accuracy"] == 0.5
    assert born.outcome.triples and born.outcome.stop_reason == "sufficient"
    assert [hop.subquery for hop in born.outcome.hops][1] == "Where was Mira Lund born?"
    assert (by_id["harbour"].error_class, by_id["harbour"].score) == ("answerer_wrong", 0.0)
    assert {row.error_class for row in rows_of(tmp_path, "direct")} == {"from_memory"}
    out = tmp_path / "out"
    assert (out / "config.toml").read_text() == "# settings"
    versions = json.loads((out / "versions.json").read_text())
    assert versions["systems"]["small/ras"]["planner"] == "small:planner"


async def test_the_same_settings_give_the_same_rows_whatever_runs_at_once(tmp_path: Path) -> None:
    systems = {"single": {}, "ras": {}, "share": {"kind": "ras_share", "shuffle": [1, 2]}}
    found = []
    for at_once in (1, 6):
        folder = tmp_path / f"{at_once}"
        folder.mkdir()
        await run(folder, World(), systems, limits={"at_once": at_once})
        files = sorted((folder / "out" / "predictions" / "small").iterdir())
        assert len(files) == 4
        found.append([_without_seconds(path) for path in files])
    assert found[0] == found[1]


def _without_seconds(path: Path) -> list[Any]:
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for record in records:
        record["outcome"].pop("seconds")
        record.pop("saved_tokens")
        for use in record["outcome"]["usage"].values():
            use.pop("seconds")
    return records


async def test_variants_pay_for_plans_and_triples_once_and_are_charged_for_them_each(
    tmp_path: Path,
) -> None:
    world = World()
    await run(tmp_path, world, {"ras": {}, "half": HALF}, limits={"at_once": 1})
    once = [call for call in world.calls if not call.startswith("answer")]
    assert len(once) == len(set(once))
    for whole, half in zip(rows_of(tmp_path, "ras"), rows_of(tmp_path, "half"), strict=True):
        for role in ("planner", "extractor"):
            ours, theirs = (dict(row.outcome.usage[role]) for row in (whole, half))
            assert {**ours, "seconds": 0} == {**theirs, "seconds": 0}
        assert half.saved_tokens["planner"][0] == half.outcome.usage["planner"]["input_tokens"]


async def test_a_failure_is_a_row_that_scores_zero_and_can_be_asked_again(tmp_path: Path) -> None:
    def finished(call: str) -> None:
        if call.startswith(COUNTRY):
            raise ModelResponseError("the server said no")
        if call.startswith("answer Who designed"):
            raise ZeroDivisionError("a bug of somebody's part")

    assert (await run(tmp_path, World(finished))).finished
    rows = {row.id: row for row in rows_of(tmp_path, "ras")}
    assert rows["born"].right
    failed = rows["country"]
    assert failed.outcome.error == "ModelResponseError: the server said no"
    assert (failed.score, failed.error_class, failed.outcome.answer) == (0.0, "failed", "")
    assert failed.outcome.tokens > 0, "what it had cost by then counts"
    assert rows["harbour"].outcome.error.startswith("ZeroDivisionError")
    again = World()
    await run(tmp_path, again)
    assert again.calls == []
    told: list[bool] = []

    def progress(standings: Sequence[Standing]) -> None:
        told.append(any(row.outcome.error for one in standings for row in one.rows))

    retried = await ask(config(tmp_path, SYSTEMS), tmp_path, again, retry=True, progress=progress)
    assert told == [True, True, False], "at first, and after each answer"
    assert [len(one.rows) for one in retried.standings] == [3, 3, 3]
    assert not any(row.outcome.error for one in retried.standings for row in one.rows)
    assert sorted(again.calls) == [f"{COUNTRY} 1", "answer Who designed the Harbour Bridge? 1"]
    assert {row.id: row.right for row in rows_of(tmp_path, "ras")}["country"]


@pytest.mark.parametrize("system", ["react", "ras_no_planning", "ras"])
async def test_what_another_system_began_is_not_gone_on_with_as_ras(
    system: str, tmp_path: Path
) -> None:
    await run(tmp_path, failing(("read", "answer")), {system: {}})
    failed = rows_of(tmp_path, system)[0]
    edits = parse_edits([{"op": "plan", "text": "[NO_RETRIEVAL]"}], OPERATIONS)
    async with open_runs(tmp_path / "out", builder=wire(World().parts)) as runs:
        before = await runs.document(failed.run)
        step = get_branch(before)["steps"][-1]
        for go_on in (runs.resume(failed.run), runs.fork(failed.run, step, edits)):
            if system == "ras":
                assert (await events(go_on))[-1]["type"] == "answer"
            else:
                with pytest.raises(RunError, match=f"{system}.*--retry"):
                    await events(go_on)
        assert system == "ras" or await runs.document(failed.run) == before


async def test_what_cannot_be_written_as_text_is_replaced(tmp_path: Path) -> None:
    world = failing(COUNTRY, ModelResponseError("the server said \ud83d"))
    settings = config(tmp_path, SYSTEMS)
    rows = [{"id": "\ud83d", "question": "Q \ud83d?", "answers": ["Narvik\ud83d"]}, QUESTIONS[1]]
    write_questions(tmp_path, rows)
    assert (await ask(settings, tmp_path, world)).finished
    assert "Narvik\ufffd" in (tmp_path / "out" / "report.md").read_text()


async def test_a_refused_key_stops_the_evaluation_and_costs_no_row(tmp_path: Path) -> None:
    world = failing(COUNTRY, AuthenticationError("The key was refused."))
    with pytest.raises(AuthenticationError, match="refused"):
        await run(tmp_path, world, limits={"at_once": 1})
    assert [row.id for row in rows_of(tmp_path, "ras")] == ["born"]
    assert (await run(tmp_path, World())).finished


class Lingering:
    """An answerer that takes a moment to close what it has open when it is cancelled."""

    identity = "small:lingering"
    takes_soft_tokens = False

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.closed = False

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
        self.asked.set()
        try:
            await asyncio.sleep(60)
        finally:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.1)
            self.closed = True
        return []


async def test_an_interrupted_evaluation_ends_after_its_runs(tmp_path: Path) -> None:
    answerer = Lingering()
    parts = replace(World().parts, answerer=answerer)
    work = asyncio.create_task(ask(config(tmp_path, {"ras": {}}), tmp_path, World(), parts=parts))
    await answerer.asked.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert answerer.closed, "the run was still at work when its databases were closed"
    assert (await run(tmp_path, World(), {"ras": {}})).finished


@pytest.mark.parametrize("limits", [{"tokens": 150}, {"money": 0.00015}])
async def test_no_question_is_begun_beyond_a_ceiling(tmp_path: Path, limits: Any) -> None:
    prices = {"local:default": {"input": 1.0, "output": 1.0}}
    limits = {"at_once": 1, **limits}
    report = await run(tmp_path, World(), limits=limits, prices=prices)
    assert not report.finished and "ceiling" in report.ceiling
    counts = [len(one.rows) for one in report.standings]
    assert max(counts) - min(counts) <= 1 and 0 < sum(counts) < 9
    world = World()
    report = await run(tmp_path, world, prices=prices, limits={"at_once": 1})
    assert report.finished and not report.ceiling
    assert not any(call.startswith(f"answer {QUESTION}") for call in world.calls)


async def test_other_settings_need_another_folder_or_name(tmp_path: Path) -> None:
    await run(tmp_path, World(), {"ras": {}, "half": HALF}, seed=5)
    with pytest.raises(ConfigurationError, match="top_k: 2, now 3"):
        await run(tmp_path, World(), {"ras": {"top_k": 3}})
    # What chance decided depends on the seed.
    assert "seed 5" in (tmp_path / "out" / "report.md").read_text()
    with pytest.raises(ConfigurationError, match=r"'half'.*\(seed: 5, now 6\)"):
        await run(tmp_path, World(), {"half": HALF}, seed=6)
    world = World()
    report = await run(tmp_path, world, {"ras": {}, "ras3": {"kind": "ras", "top_k": 3}}, seed=6)
    assert report.finished
    assert [row.right for row in rows_of(tmp_path, "ras3")] == [True, True, False]
    assert sum(call.startswith("answer") for call in world.calls) == 3


async def test_settings_can_be_mended_before_the_first_answer(tmp_path: Path) -> None:
    with pytest.raises(AuthenticationError):
        await run(tmp_path, failing("answer", AuthenticationError("no")), {"ras": {"top_k": 1}})
    assert (await run(tmp_path, World(), {"ras": {}})).finished


async def test_two_evaluations_do_not_write_one_folder(tmp_path: Path) -> None:
    world = World()

    async def second() -> None:
        while not world.calls:
            await asyncio.sleep(0)
        with pytest.raises(RunError, match="Another evaluation"):
            await run(tmp_path, World())

    await asyncio.gather(run(tmp_path, world), second())


@pytest.mark.parametrize("name", ["rows.sqlite", "runs.sqlite", "store.sqlite"])
async def test_a_damaged_database_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("no database " * 1000)
    with pytest.raises(RunError, match="cannot be used"):
        await run(tmp_path, World())


async def test_a_question_that_is_another_one_now_is_refused_and_nothing_is_written(
    tmp_path: Path,
) -> None:
    def written() -> dict[Path, bytes]:
        kinds = (".toml", ".json", ".jsonl", ".md", ".html")
        files = [file for file in (tmp_path / "out").rglob("*.*") if file.suffix in kinds]
        return {file: file.read_bytes() for file in files}

    settings = config(tmp_path, {"ras": {}})
    await ask(settings, tmp_path, World())
    before = written()
    write_questions(tmp_path, [{**QUESTIONS[0], "question": "Who?"}])
    with pytest.raises(ConfigurationError, match="'born' is another one"):
        await ask(replace(settings, text=settings.text + "# changed"), tmp_path, World())
    assert written() == before
    with open_rows(tmp_path / "out") as rows:
        assert len(rows.current()) == len(QUESTIONS)


@pytest.mark.parametrize("edits", [[], [{"op": "plan", "text": "[NO_RETRIEVAL]"}]])
async def test_what_was_made_of_a_run_elsewhere_is_no_answer_of_the_evaluation(
    edits: list[dict[str, str]], tmp_path: Path
) -> None:
    await run(tmp_path, failing(COUNTRY), {"ras": {}})
    [failed] = [row for row in rows_of(tmp_path, "ras") if row.outcome.error]
    parts = replace(World().parts, answerer=ScriptedAnswerer("what another model says"))
    async with open_runs(tmp_path / "out", builder=wire(parts)) as runs:
        if edits:
            step = get_branch(await runs.document(failed.run))["steps"][2]
            await events(runs.fork(failed.run, step, parse_edits(edits, OPERATIONS)))
        else:
            await events(runs.resume(failed.run))
        assert (await runs.get(failed.run)).state["answer"] == "what another model says"
    world = World()
    await run(tmp_path, world, {"ras": {}}, retry=True)
    assert world.calls == [f"{COUNTRY} 1"]
    [row] = [row for row in rows_of(tmp_path, "ras") if row.id == failed.id]
    assert (row.outcome.answer, row.right) == ("Norway", True)
    assert len(row.outcome.hops) == len(failed.outcome.hops)


async def test_no_index_is_opened_for_a_system_that_does_not_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def retriever_of(context: Any) -> Any:
        raise ConfigurationError("FAISS is not installed")

    monkeypatch.setattr("ras_flow.parts.named.retriever_of", retriever_of)
    settings, world = config(tmp_path, {"direct": {}, "ras_no_retrieval": {}}), World()
    report = await ask(settings, tmp_path, world, parts=replace(world.parts, retriever=None))
    assert [row.outcome.error for one in report.standings for row in one.rows] == [""] * 6


async def test_what_failed_is_paid_for_once_when_it_is_asked_again(tmp_path: Path) -> None:
    (tmp_path / "well").mkdir()
    well = await run(tmp_path / "well", World(), {"ras": {}})
    tokens = sum(row.outcome.tokens for row in well.standings[0].rows)
    limits = {"tokens": tokens, "at_once": 1}
    await run(tmp_path, failing("answer"), {"ras": {}}, limits=limits)
    low = {"tokens": 1, "at_once": 1}
    assert (await run(tmp_path, World(), {"ras": {}}, retry=True, limits=low)).ceiling
    report = await run(tmp_path, World(), {"ras": {}}, retry=True, limits=limits)
    assert not report.ceiling
    assert not any(row.outcome.error for row in report.standings[0].rows)


async def test_a_ceiling_counts_what_a_system_cost_under_its_name_of_before(tmp_path: Path) -> None:
    await run(tmp_path, World(), {"direct": {}})
    world, again = World(), {"again": {"kind": "direct"}}
    report = await run(tmp_path, world, again, limits={"tokens": 1, "at_once": 1})
    assert "ceiling" in report.ceiling and not world.calls


async def test_what_is_kept_is_not_counted_against_the_ceiling_again(tmp_path: Path) -> None:
    alone = await run(tmp_path, World(), {"ras": {}})
    tokens = sum(row.outcome.tokens for row in alone.standings[0].rows)
    systems = {"ras": {}, **{f"s{n}": HALF for n in range(3)}}
    report = await run(tmp_path, World(), systems, limits={"tokens": 2 * tokens, "at_once": 1})
    assert report.finished
