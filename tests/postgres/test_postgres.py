"""Checkpointer and store of a real PostgreSQL database, for a graph used as a library."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import psycopg
import pytest
from langgraph.types import Command

from ras_flow import Context, build_graph
from ras_flow.errors import InputError, RunError
from ras_flow.parts import Reply
from ras_flow.runs.databases.locks import ThreadLocks
from ras_flow.runs.databases.opening import open_runs_at
from ras_flow.runs.databases.postgres import open_postgres
from ras_flow.runs.databases.stores import open_store
from tests.graph.world import QUESTION, SECOND, world
from tests.t2rag import world as t2rag

CONFIG: Any = {"configurable": {"thread_id": "1"}}
SHORT = Context(top_k=1)
PAUSING = Context(top_k=1, pause_before_answer=True)


class Planner:
    """Plans by what is known, for any number of runs."""

    identity = "test:planner"
    takes_soft_tokens = False

    async def plan(self, requests: Any) -> list[Reply]:
        plans = ["[SUBQ] x", SECOND, "[SUFFICIENT]"]
        return [Reply(plans[len(request.chain)]) for request in requests]


async def test_a_graph_compiled_with_it_keeps_its_threads_and_its_triples(database: str) -> None:
    async with open_postgres(database) as opened:
        graph = build_graph(**world()).compile(checkpointer=opened.saver, store=opened.store)
        result = await graph.ainvoke({"question": QUESTION}, CONFIG, context=PAUSING)
        assert result["__interrupt__"]
    async with open_postgres(database) as opened:
        parts = world()
        graph = build_graph(**parts).compile(checkpointer=opened.saver, store=opened.store)
        result = await graph.ainvoke(Command(resume={"edits": []}), CONFIG, context=PAUSING)
        assert result["answer"] == "Narvik"
        assert not parts["planner"].requests
        again = await graph.ainvoke(
            {"question": QUESTION}, {"configurable": {"thread_id": "2"}}, context=SHORT
        )
        assert again["answer"] == "Narvik"
        assert "to_triples:0" not in again["usage"] or not again["usage"]["to_triples:0"]["calls"]
    async with open_store(database) as store:
        assert await store.alist_namespaces()


async def test_t2rag_waits_for_a_person_and_goes_on_there(database: str) -> None:
    pausing = {**t2rag.ROUNDS, "pause_before_answer": True}
    async with open_postgres(database) as opened:
        graph = t2rag.build(t2rag.world(), checkpointer=opened.saver)
        asked = {"question": t2rag.QUESTION, "settings": pausing}
        assert (await graph.ainvoke(asked, CONFIG))["__interrupt__"]
    async with open_postgres(database) as opened:
        graph = t2rag.build(t2rag.world(), checkpointer=opened.saver)
        result = await graph.ainvoke(Command(resume={"edits": []}), CONFIG)
        assert (result["answer"], len(result["fills"])) == ("Northern Light", 4)


async def test_many_at_once_make_the_tables_of_a_new_database(database: str) -> None:
    async def open_once() -> int:
        async with open_postgres(database) as opened:
            return len([saved async for saved in opened.saver.alist(None)])

    assert await asyncio.gather(*(open_once() for _ in range(8))) == [0] * 8


async def test_who_may_not_create_tables_uses_those_that_their_owner_made(database: str) -> None:
    [role] = re.findall(r"test_\w+", database)
    theirs = database.replace("postgres:@", f"{role}:@")

    async def refused(said: str) -> None:
        with pytest.raises(RunError, match=said):
            async with open_postgres(theirs):
                pass

    with psycopg.connect(database, autocommit=True) as owner:
        owner.execute(f"CREATE ROLE {role} LOGIN")  # type: ignore[call-overload]
        await refused("denied for schema .*made.* by a user who may create tables.* open it once")
        async with open_postgres(database):
            pass
        await refused("denied for table .*Others need SELECT, INSERT, UPDATE and DELETE on them")
        owner.execute(
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}"  # type: ignore[call-overload]
        )
        async with open_runs_at(theirs, builder=build_graph(**world(planner=Planner()))) as runs:
            told = [e async for e in runs.start({"question": QUESTION}, SHORT, run_id="1")]
            assert told[-1]["type"] == "answer"
            assert [run.id for run in await runs.recent()] == ["1"]
        owner.execute("DELETE FROM store_migrations WHERE v > 1")
        await refused("denied for schema .*changed after an upgrade.* open it once")


async def test_connections_that_were_cut_are_made_anew(database: str, postgres: str) -> None:
    async with open_runs_at(database, builder=build_graph(**world(planner=Planner()))) as runs:
        for run in ("1", "2"):
            told = [e async for e in runs.start({"question": QUESTION}, SHORT, run_id=run)]
            assert told[-1]["type"] == "answer"
            with psycopg.connect(postgres, autocommit=True) as connection:
                cut = connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname LIKE 'test_%' AND pid <> pg_backend_pid()"
                ).fetchall()
            assert len(cut) >= 2


async def test_what_is_wrong_is_told_while_the_runs_are_open(database: str) -> None:
    async with open_runs_at(database) as runs:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("DROP TABLE checkpoints")
        with pytest.raises(RunError, match="cannot be used"), runs.told():
            await runs.recent()


@pytest.mark.parametrize("newest", [True, False])
async def test_of_two_who_answer_a_review_at_once_one_is_told(database: str, newest: bool) -> None:
    builder = build_graph(**world(planner=Planner()))
    async with (
        open_runs_at(database, builder=builder) as ours,
        open_runs_at(database, builder=builder) as theirs,
    ):
        [_ async for _ in ours.start({"question": QUESTION}, PAUSING, run_id="1")]
        if not newest:
            [branch] = (await ours.document("1"))["branches"]
            [_ async for _ in ours.fork("1", branch["steps"][-2])]

        async def answer(runs: Any) -> list[Any]:
            return [event async for event in runs.resume("1", [], branch=1)]

        told = await asyncio.gather(answer(ours), answer(theirs), return_exceptions=True)
        errors = [one for one in told if isinstance(one, BaseException)]
        [answered] = [one for one in told if isinstance(one, list)]
        assert answered[-1]["answer"] == "Narvik"
        [error] = errors
        # Who looks after the answer sees a finished run.
        assert isinstance(error, RunError) and re.search("elsewhere|is finished", str(error))
        branches = (await ours.document("1"))["branches"]
        statuses = [branch["status"] for branch in branches]
        assert statuses == ["finished"] + ["paused"] * (not newest)


@pytest.mark.parametrize("alone", [True, False])
async def test_who_is_cancelled_at_any_moment_leaves_no_lock(database: str, alone: bool) -> None:
    ours, theirs = ThreadLocks(database), ThreadLocks(database)

    async def work() -> None:
        async with ours.at_work("1", alone=alone):
            await asyncio.sleep(0.001)

    async with ours.at_work("2", alone=True), theirs.at_work("3", alone=True):
        for moment in range(30):
            task = asyncio.create_task(work())
            await asyncio.sleep(0.0003 * moment)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            async with asyncio.timeout(20), theirs.at_work("1", alone=True):
                pass
    for locks in (ours, theirs):
        await locks.close()


@pytest.mark.parametrize("alone", [True, False])
async def test_a_database_that_does_not_answer_is_waited_for_a_while(
    database: str, monkeypatch: pytest.MonkeyPatch, alone: bool
) -> None:
    """As where the process that has the lock was suspended at the wrong moment."""
    ours = ThreadLocks(database)
    with (
        monkeypatch.context() as changed,
        psycopg.connect(database, autocommit=True) as suspended,
    ):
        changed.setattr("ras_flow.runs.databases.locks._ANSWER", 0.2)
        suspended.execute("SELECT pg_advisory_lock(hashtextextended('1', 7))")
        with pytest.raises(psycopg.OperationalError, match=r"no answer within 0\.2 seconds"):
            async with asyncio.timeout(20), ours.at_work("1", alone=False):
                pass
    async with ours.at_work("1", alone=alone):
        pass
    await ours.close()


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
async def test_a_database_that_lacks_characters_is_refused(postgres: str, encoding: str) -> None:
    name = f"test_{encoding.lower()}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {name} ENCODING '{encoding}' TEMPLATE template0 LOCALE 'C'"  # type: ignore[call-overload]
        )
    with pytest.raises(RunError, match=f"encoding {encoding}.*ENCODING 'UTF8' TEMPLATE template0"):
        async with open_postgres(postgres.replace("/postgres?", f"/{name}?")):
            pass


@pytest.mark.parametrize("run_id", ["a\0b", "\ud800"])
async def test_an_id_that_cannot_be_stored_is_refused_and_is_no_runs(
    database: str, run_id: str
) -> None:
    async with open_runs_at(database, builder=build_graph(**world())) as runs:
        with pytest.raises(InputError, match="half of a surrogate pair"):
            [_ async for _ in runs.start({"question": QUESTION}, SHORT, run_id=run_id)]
        for look in (runs.document, runs.summary, runs.newest, lambda id: runs.delete([id])):
            with pytest.raises(RunError, match="no run"):
                await look(run_id)


@pytest.mark.parametrize("opening", [open_postgres, open_store])
async def test_a_database_that_is_not_there_is_told_without_its_password(opening: Any) -> None:
    with pytest.raises(RunError, match="cannot be used") as told:
        async with opening("postgresql://me:s3cret@127.0.0.1:1/runs"):
            pass
    assert "s3cret" not in str(told.value)
