"""The same results by Ray's workers as by this process, whoever is killed: a real local cluster."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil
import pytest
from langgraph.store.memory import InMemoryStore

from ras_flow.cluster.parts import encoder_on, parts_on
from ras_flow.cluster.workers import RETRIES, Workers, open_workers
from ras_flow.documents import SourceDocument
from ras_flow.errors import ClusterError, DocumentError, MissingExtraError
from ras_flow.indexes import CorpusIndex, vector_writer
from ras_flow.indexes.contents import IndexProgress
from ras_flow.settings.context import Context
from ras_flow.support.engine import IN_PROCESS, Engine
from ras_flow.triples.cache import KeptTriples, read_kept
from ras_flow.triples.precompute import Filling, precompute
from tests.cli.command import Command, Done, ras_flow
from tests.cli.model import Model, write_documents
from tests.cluster import work
from tests.evaluation.running.small import write_settings
from tests.graph.world import DOCUMENTS
from tests.indexes.helpers import files
from tests.indexes.test_vectors import corpus
from tests.servers import Answer

pytestmark = pytest.mark.slow

PATIENCE = 120
"""Seconds that a command may take where the machine has much else to do."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A cluster that this process is connected to; the address for others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        patch.setenv("OPENAI_API_KEY", "test")
        import ray

        ray.init(
            "local", num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level="ERROR"
        )
        yield ray.get_runtime_context().gcs_address
        ray.shutdown()


@pytest.fixture(scope="module")
def workers(cluster: str) -> Iterator[Workers]:
    with open_workers(most=2) as workers:
        yield workers


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as model:
        yield model


async def killer(workers: Workers) -> Callable[[], None]:
    """Return what kills a worker when it is first called."""
    alive = [await workers.do(work.pid)]

    def kill() -> None:
        while alive:
            os.kill(alive.pop(), signal.SIGKILL)

    return kill


async def build(path: Path, engine: Engine, kill: Callable[[], None] | None = None) -> Any:
    def progress(at: IndexProgress) -> None:
        if kill and at.stage == "embed" and at.done:
            kill()

    encoder = encoder_on(engine, Context().encoder)
    await CorpusIndex.build(
        path, corpus(100), encoder=encoder, progress=progress, shards=2, engine=engine
    )
    return files(path)


async def test_an_index_has_the_same_bytes_also_when_a_worker_is_killed(
    tmp_path: Path, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_writer, "_EMBED_AT_ONCE", 32)
    kill = await killer(workers)
    there = await build(tmp_path / "there", workers, kill)
    assert there == await build(tmp_path / "here", IN_PROCESS)
    assert {"vectors-000.npy", "vectors-001.npy", "passages.jsonl"} < there.keys()


async def test_the_same_triples_also_when_a_worker_is_killed(
    tmp_path: Path, workers: Workers, model: Model
) -> None:
    index = await CorpusIndex.build(
        tmp_path / "index",
        [SourceDocument(d["title"], d["title"], d["text"]) for d in DOCUMENTS],
        encoder=None,
    )
    context = Context(extractor="openai:test", base_url=model.server.url, loop="paper")
    kill = await killer(workers)

    async def fill(engine: Engine) -> tuple[Filling, list[KeptTriples]]:
        store = InMemoryStore()
        extractor = await parts_on(engine).get_extractor(context)

        def progress(_: Filling) -> None:
            if engine is workers:
                kill()

        filling = await precompute(index.passages, extractor, store, workers=2, progress=progress)
        kept = [kept async for kept in read_kept(store)]
        return filling, sorted(kept, key=lambda one: one.passage)

    here, there = await fill(IN_PROCESS), await fill(workers)
    assert here == there
    assert (here[0].extracted, here[0].triples, len(here[1])) == (4, 6, 4)


async def test_an_error_of_the_work_is_the_callers(tmp_path: Path, workers: Workers) -> None:
    with pytest.raises(DocumentError) as raised:
        await workers.do(work.refuse, "a.txt has no text")
    assert (type(raised.value), str(raised.value)) == (DocumentError, "a.txt has no text")
    with pytest.raises(ZeroDivisionError):
        await workers.do(work.divide, 0)
    with pytest.raises(DocumentError, match="empty.txt has no text"):
        await CorpusIndex.build(
            tmp_path, [SourceDocument("empty.txt", "", " ")], encoder=None, engine=workers
        )
    attempts = tmp_path / "attempts"
    with pytest.raises(ClusterError, match="gave up a piece of work"):
        await workers.do(work.die, str(attempts))
    assert len(attempts.read_text()) == 1 + RETRIES
    assert await workers.do(work.after, 0, 5) == 5


async def test_a_worker_of_another_version_and_another_model_are_refused(cluster: str) -> None:
    with open_workers(most=2) as workers:
        encoder = encoder_on(workers, Context().encoder)
        encoder.identity = "another"  # type: ignore[misc]
        with pytest.raises(ClusterError, match="the same models"):
            await encoder.encode(["text"])
        await workers.do(work.pretend, "0.0.1")
        tries = [workers.do(work.after, 0, 5) for _ in range(2)]
        good, bad = sorted(await asyncio.gather(*tries, return_exceptions=True), key=str)
    assert good == 5 and isinstance(bad, ClusterError)
    assert "has ras-flow 0.0.1" in str(bad)


def ended(command: Command) -> Done:
    return command.wait(PATIENCE)


def precomputing(folder: Path, model: Model) -> list[str]:
    index, docs = str(folder / "index"), str(write_documents(folder / "docs"))
    assert ras_flow("index", "build", index, docs, "--bm25-only").code == 0
    models = [
        "--extractor",
        "openai:test",
        "--base-url",
        model.server.url,
        "--set",
        "max_retries=0",
        "--set",
        "loop=paper",
    ]
    return ["triples", "precompute", index, *models, "--workers", "1", "--engine", "ray"]


def test_a_killed_evaluation_goes_on_to_the_same_rows(
    tmp_path: Path, cluster: str, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    monkeypatch.setenv("RAY_ADDRESS", cluster)
    model.answers = lambda role, text: (
        Answer("[SUFFICIENT]" if "[SUBQ]" in text else "[SUBQ] x")
        if role == "planner" and "Harbour" in text
        else None
    )
    more = "max_retries = 0\n[limits]\nat_once = 2"
    config = str(write_settings(tmp_path, model.server.url, more))
    here = ras_flow("eval", config, "--out", str(tmp_path / "here"))
    assert here.code == 0, here.err
    asked = list(model.answered)
    model.answered.clear()

    model.hang = lambda role, text: role == "answerer" and "Harbour" in text
    command = ["eval", config, "--out", str(tmp_path / "there"), "--engine", "ray"]
    going = Command(*command)
    going.until(model.hanging.is_set, PATIENCE)
    going.send(signal.SIGKILL)
    ended(going)
    model.release()
    there = ended(Command(*command))
    told = [line for line in there.err.splitlines() if not line.startswith("questions: ")]
    assert (there.code, told) == (0, [])
    again = Counter(model.answered) - Counter(asked)
    assert again.total() <= 1, "only a call of the other question may have been under way"
    assert not Counter(asked) - Counter(model.answered)
    rows = predictions(tmp_path / "there")
    assert rows == predictions(tmp_path / "here")
    assert [(row["system"], row["outcome"]["answer"]) for row in rows][0] == ("ras", "Narvik")
    assert len(rows) == 4 and not any(row["outcome"]["error"] for row in rows)


def predictions(folder: Path) -> list[Any]:
    """Return what was written, without times."""
    return [
        timeless(json.loads(line))
        for path in sorted(folder.glob("predictions/*/*.jsonl"))
        for line in path.read_text().splitlines()
    ]


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: timeless(one) for name, one in value.items() if name != "seconds"}
    return value


def test_a_cluster_of_its_own_is_for_this_machine_alone_and_ends_on_ctrl_c(
    tmp_path: Path, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    model.hang = lambda role, text: "Narvik is a town" in text
    going = Command(*precomputing(tmp_path, model))
    going.until(model.hanging.is_set, PATIENCE)
    started = psutil.Process(going.process.pid).children(recursive=True)
    names = {process.name() for process in started}
    assert {"raylet", "gcs_server"} <= names
    listening = {
        connection.laddr.ip.removeprefix("::ffff:")
        for process in started
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}
    going.send(signal.SIGINT)
    done = ended(going)
    assert (done.code, "Traceback" in done.err) == (130, False)
    assert "go on with the same command" in done.err
    _, alive = psutil.wait_procs(started, timeout=10)
    assert not alive


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "silent"])
def test_a_cluster_that_is_not_there_or_does_not_answer_is_told(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_py_gcs_connect_timeout_s", "1")
    with socket.create_server(("", 0)) as silent:
        why = "Connection refused"
        if address == "silent":
            address, why = f"127.0.0.1:{silent.getsockname()[1]}", "Failed to connect"
        monkeypatch.setenv("RAY_ADDRESS", address)
        done = ended(Command("index", "build", "i", "docs", "--bm25-only", "--engine", "ray"))
    assert (done.code, done.out, "Traceback" in done.err) == (1, "", False)
    assert f"RAY_ADDRESS={address}" in done.err and why in done.err


def test_what_workers_cannot_import_is_told(
    cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "class Worker:\n    def __init__(self, *_): ...\n    async def check(self): ...\n"
    (tmp_path / "only_here.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("ras_flow.cluster.workers._Worker", import_module("only_here").Worker)
    said = r"work: ModuleNotFoundError: No module named 'only_here'\. .* on every machine"
    with pytest.raises(ClusterError, match=said), open_workers(most=1):
        pass


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"ras-flow\[ray\]"), open_workers():
        pass
