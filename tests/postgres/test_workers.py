"""Several processes on one real PostgreSQL database."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from ras_flow import build_graph
from ras_flow.errors import RunError
from ras_flow.runs.databases.opening import open_runs_at
from ras_flow.runs.databases.stores import filling
from tests.cli.command import Command, Done
from tests.graph.world import QUESTION, world
from tests.postgres import worker
from tests.postgres.test_postgres import Planner
from tests.runs import killed


def begun(log: Path) -> bool:
    return log.exists() and "begin" in log.read_text()


def resume(database: str, log: Path) -> Done:
    return Command(database, str(log), "run1", main=worker.run).wait()


@pytest.mark.parametrize(("node", "nth"), [("plan", "2"), ("Mira Lund", "1")])
def test_a_run_of_a_killed_process_goes_on_in_another(
    node: str, nth: str, database: str, tmp_path: Path
) -> None:
    log = tmp_path / "calls.log"
    died = Command(database, str(log), "run1", node, nth, main=killed.run).wait()
    assert died.code == -signal.SIGKILL, died.err
    resumed = Command(database, str(log), "run1", main=killed.run).wait()
    assert (resumed.code, resumed.out) == (0, "Narvik"), resumed.err
    calls = log.read_text().splitlines()
    assert len(calls) == len(set(calls)) and calls[-1] == "answer"


async def test_a_run_at_work_in_one_process_is_not_resumed_in_another(
    database: str, tmp_path: Path
) -> None:
    log, others = tmp_path / "first.log", tmp_path / "second.log"
    hold = tmp_path / "first.log.hold"
    hold.touch()
    first = Command(database, str(log), "run1", QUESTION, main=worker.run)
    first.until(lambda: begun(log))
    refused = resume(database, others)
    assert refused.code == 1 and "at work elsewhere" in refused.err, refused.err
    assert not others.exists(), "the second process called a model"
    builder = build_graph(**world(planner=Planner()))
    async with open_runs_at(database, builder=builder) as runs:
        beginning = (await runs.history("run1"))[1].config["configurable"]["checkpoint_id"]
        told: Any = [event async for event in runs.fork("run1", beginning)]
        assert told[-1]["answer"] == "Narvik"
        # Not the newest branch any more, and still at work.
        with pytest.raises(RunError, match="at work elsewhere"):
            [event async for event in runs.resume("run1", branch=1)]
        hold.unlink()
        done = first.wait()
        assert (done.code, done.out) == (0, "Narvik"), done.err
        branches = (await runs.document("run1"))["branches"]
    assert [branch["answer"] for branch in branches] == ["Narvik", "Narvik"]
    assert [len(branch["plans"]) for branch in branches] == [4, 3]


async def test_a_killed_process_holds_its_run_no_longer(database: str, tmp_path: Path) -> None:
    log, others = tmp_path / "first.log", tmp_path / "second.log"
    (tmp_path / "first.log.hold").touch()
    first = Command(database, str(log), "run1", QUESTION, main=worker.run)
    first.until(lambda: begun(log))
    first.send(signal.SIGKILL)
    resumed = resume(database, others)
    assert (resumed.code, resumed.out) == (0, "Narvik"), resumed.err


async def test_two_processes_that_ask_on_one_thread_keep_both_answers(
    database: str, tmp_path: Path
) -> None:
    logs = [tmp_path / "first.log", tmp_path / "second.log"]
    questions = [QUESTION, f"{QUESTION} Please."]
    holds = [Path(f"{log}.hold") for log in logs]
    for hold in holds:
        hold.touch()
    workers = []
    for log, question in zip(logs, questions, strict=True):
        workers.append(Command(database, str(log), "run1", question, main=worker.run))
        workers[-1].until(lambda log=log: begun(log))  # type: ignore[misc]
    for hold in holds:
        hold.unlink()
    assert [each.wait().out for each in workers] == ["Narvik", "Narvik"]
    async with open_runs_at(database) as runs:
        ends = [step.values for step in await runs.history("run1") if not step.next]
    assert sorted(end["question"] for end in ends) == questions
    for end in ends:
        assert end["answer"] == "Narvik" and end["stop_reason"] == "sufficient"
        assert [hop["subquery"] for hop in end["hops"]] == [
            end["question"],
            "Where was Mira Lund born?",
        ]
        assert len(end["plans"]) == 4 and len(end["triples"]) == 4


async def test_the_same_triples_are_made_by_one_alone(database: str) -> None:
    async with filling(database, "some"):
        async with filling(database, "others"):
            with pytest.raises(RunError, match="same triples"):
                async with filling(database, "some"):
                    pass
    async with filling(database, "some"):
        pass
