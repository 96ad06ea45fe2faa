from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from ras_flow import Context
from ras_flow.documents.source import SourceDocument
from ras_flow.indexes.index import CorpusIndex
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.support.paths import cache_folder
from tests.graph.world import DOCUMENTS
from tests.server.aegra import Aegra
from tests.server.dev import KEYS, DevServer, langgraph_dev
from tests.server.model import reply
from tests.servers.openai_server import OpenAIServer

AUTH_EXAMPLE = Path(__file__).parents[2] / "examples" / "auth"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    folder = tmp_path_factory.mktemp("server")
    with langgraph_dev(folder, _cache(folder)) as running:
        yield running


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DevServer]:
    """A server with the example's auth handler, whose users are those of ``KEYS``."""
    folder = tmp_path_factory.mktemp("guarded")
    for name in ("langgraph.json", "handler.py"):
        shutil.copy(AUTH_EXAMPLE / name, folder)
    users = {"RAS_FLOW_USERS": json.dumps({key: name for name, key in KEYS.items()})}
    with langgraph_dev(folder, _cache(folder), folder / "langgraph.json", users) as running:
        yield running


def _cache(folder: Path) -> Path:
    # Converting the local model takes ten seconds: that is shared. The indexes are made anew.
    models = cache_folder() / "models"
    models.mkdir(parents=True, exist_ok=True)
    cache = folder / "cache"
    cache.mkdir()
    (cache / "models").symlink_to(models)
    return cache


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A Context as JSON: a small corpus with real vectors, and a scripted model over HTTP."""
    index = tmp_path_factory.mktemp("index")
    documents = [SourceDocument(d["title"], d["title"], d["text"]) for d in DOCUMENTS]
    asyncio.run(CorpusIndex.build(index, documents, encoder=LocalSentenceEncoder()))
    with OpenAIServer(reply) as model:
        yield Context(
            index=str(index),
            planner="openai:test",
            extractor="openai:test",
            answerer="openai:test",
            base_url=model.url,
            top_k=1,
            loop="paper",
        ).changed()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the server's log with a failure."""
    report = yield
    for server in item.funcargs.values():
        if not (report.failed and isinstance(server, DevServer | Aegra)):
            continue
        report.sections.append(("the server's log", server.log.read_text()[-20_000:]))
    return report
