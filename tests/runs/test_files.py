"""Forks of runs in files: killed at any moment, and while another program holds the lock."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from ras_flow import build_graph, open_runs
from ras_flow.errors import RecordError, RunError
from ras_flow.runs.databases.sqlite import open_saver
from tests.cli.command import Command, ras_flow
from tests.graph.world import QUESTION, world
from tests.runs import killed_fork
from tests.runs.stories import BIRTH, TOP1, branch, drop, events


@pytest.fixture
async def home(tmp_path: Path) -> Path:
    """A folder with the finished run "a"."""
    async with open_runs(tmp_path, builder=build_graph(**world())) as runs:
        await events(runs.start({"question": QUESTION}, TOP1, run_id="a"))
    return tmp_path


def rewrite(home: Path, change: Callable[[Any], None]) -> None:
    """Change every checkpoint, as a database of somebody else may hold anything."""
    serde = JsonPlusSerializer()
    with sqlite3.connect(home / "runs.sqlite") as database:
        rows = database.execute("SELECT rowid, checkpoint FROM checkpoints").fetchall()
        for row, blob in rows:
            checkpoint = serde.loads_typed(("msgpack", blob))
            change(checkpoint)
            _, new = serde.dumps_typed(checkpoint)
            database.execute("UPDATE checkpoints SET checkpoint = ? WHERE rowid = ?", (new, row))


@pytest.mark.parametrize(
    ("when", "answer"), [("copied", "Narvik"), ("edited", "elsewhere"), ("answer", "elsewhere")]
)
@pytest.mark.parametrize("step", [-2, -1])
async def test_a_killed_fork_is_a_branch_that_resume_goes_on_with(
    home: Path, when: str, answer: str, step: int
) -> None:
    async with open_runs(home, builder=build_graph(**world([]))) as runs:
        old = await runs.document("a")
    checkpoint = branch(old, 1)["steps"][step]
    died = Command(str(home), checkpoint, BIRTH, when, main=killed_fork.run).wait()
    assert died.code == -signal.SIGKILL, died.err
    async with open_runs(home, builder=build_graph(**world([]))) as runs:
        new = await runs.document("a")
        assert new["branches"][0] == old["branches"][0]
        assert {id: new["steps"][id] for id in old["steps"]} == old["steps"]
        if when == "copied" and step == -1:
            # There is nothing to go on with: a finished run was copied, and not yet edited.
            assert new == old
            with pytest.raises(RunError, match="is finished"):
                await events(runs.resume("a"))
            return
        assert (branch(new, 2)["status"], new["current"]) == ("unfinished", 2)
        await events(runs.resume("a"))
        done = await runs.document("a")
        assert done["branches"][0] == old["branches"][0]
        assert [way["answer"] for way in done["branches"]] == ["Narvik", answer]


async def test_a_locked_database_is_named_and_loses_nothing(home: Path) -> None:
    async with open_runs(home, builder=build_graph(**world([]))) as runs:
        old = await runs.document("a")
    last = branch(old, 1)["steps"][-1]
    other = sqlite3.connect(home / "runs.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(RunError, match=r"is locked.* try again"):
        async with open_runs(home, builder=build_graph(**world([]))) as runs:
            assert await runs.document("a") == old, "reading needs no lock"
            await events(runs.fork("a", last, drop()))
    other.execute("ROLLBACK")
    other.close()
    async with open_runs(home, builder=build_graph(**world([]))) as runs:
        assert await runs.document("a") == old
        await events(runs.fork("a", last, drop()))
        assert branch(await runs.document("a"), 2)["answer"] == "elsewhere"


async def test_a_write_that_is_cancelled_leaves_nothing_locked(tmp_path: Path) -> None:
    step: Any = {"configurable": {"thread_id": "a", "checkpoint_ns": "", "checkpoint_id": "1"}}
    loop, writing = asyncio.get_running_loop(), asyncio.Event()

    async def write(saver: Any) -> None:
        await writing.wait()
        await saver.aput_writes(step, [("answer", "Narvik")], "task")

    async with open_saver(tmp_path) as saver:
        task = asyncio.ensure_future(write(saver))

        def cancel(statement: str) -> None:
            if statement.startswith("INSERT"):
                for _ in range(2):
                    loop.call_soon_threadsafe(task.cancel)
                    time.sleep(0.05)  # The writer learns of one before the next comes.

        await saver.conn.set_trace_callback(cancel)
        writing.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        with sqlite3.connect(tmp_path / "runs.sqlite", timeout=0) as other:
            assert other.execute("DELETE FROM writes").rowcount == 1


async def test_a_folder_that_cannot_be_written_is_named(home: Path) -> None:
    (home / "store.sqlite.lock").unlink(missing_ok=True)
    (home / "store.sqlite.lock").mkdir()
    with pytest.raises(RunError, match="cannot be written .*Copy it"):
        async with open_runs(home):
            pass


async def test_a_database_of_somebody_else_drives_no_terminal(home: Path) -> None:
    rewrite(home, lambda kept: kept["channel_values"].update(stop_reason="\x1b]0;title\x07"))
    done = ras_flow("runs", "list", "--database", str(home))
    assert "title" in done.out and "\x1b" not in done.out + done.err


@pytest.mark.parametrize("kind", ["msgpack", "msgpack+aes"])
async def test_a_record_that_cannot_be_read_is_told_and_other_runs_are_listed(
    home: Path, kind: str
) -> None:
    async with open_runs(home, builder=build_graph(**world())) as runs:
        await events(runs.start({"question": QUESTION}, TOP1, run_id="b"))
    change = (
        "UPDATE checkpoints SET type = ?, checkpoint = x'c1ff00' WHERE checkpoint_id ="
        " (SELECT {}(checkpoint_id) FROM checkpoints WHERE thread_id = 'b' AND checkpoint_ns = '')"
    )
    with sqlite3.connect(home / "runs.sqlite") as database:
        database.execute(change.format("max"), (kind,))
    async with open_runs(home, builder=build_graph(**world([]))) as runs:
        listed = [(one.id, one.answer) for one in await runs.recent()]
        assert listed == [("b", ""), ("a", "Narvik")]
        with pytest.raises(RecordError, match=r"cannot be read \(.*\)\. It is damaged, or"):
            await runs.get("b")
        assert (await runs.summary("b")).question == ""
    with sqlite3.connect(home / "runs.sqlite") as database:
        database.execute(change.format("min"), (kind,))
    async with open_runs(home, builder=build_graph(**world([]))) as runs:
        with pytest.raises(RecordError, match="Other runs can be shown by their ids"):
            await runs.recent()
        assert (await runs.get("a")).result()["answer"] == "Narvik"
        await runs.delete(["b"])
        assert [one.id for one in await runs.recent()] == ["a"]


called: list[str] = []


async def test_what_a_database_of_somebody_else_names_is_not_called(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As LangGraph is where its variable for strictness is not set.
    monkeypatch.setattr(
        BaseCheckpointSaver, "serde", JsonPlusSerializer(allowed_msgpack_modules=True)
    )
    named = ormsgpack.Ext(0, ormsgpack.packb((__name__, "call", "by checkpoint")))
    rewrite(home, lambda kept: kept["channel_values"].update(question=named))
    async with open_runs(home, builder=build_graph(**world([]))) as runs:
        [found] = await runs.recent()
        await runs.document("a")
    assert (found.question, called) == ("by checkpoint", [])


def call(by: str) -> str:
    called.append(by)
    return by
