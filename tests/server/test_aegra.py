"""The graph on aegra, an open server with the same client, over a real PostgreSQL database.

uuid-ossp comes with PostgreSQL's contrib modules, which the database from pip lacks: the one
function of it that aegra wants stands in for it here.
"""

from __future__ import annotations

import asyncio
import signal
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from langgraph_sdk import get_client
from langgraph_sdk.client import LangGraphClient
from langgraph_sdk.errors import APIStatusError
from pydantic import TypeAdapter

from ras_flow import Context
from ras_flow.documents.source import SourceDocument
from ras_flow.events import Event
from ras_flow.indexes.index import CorpusIndex
from ras_flow.runs.databases.server import open_server_runs
from ras_flow.state.kg import triple_id
from tests.graph.world import DOCUMENTS, QUESTION
from tests.server.aegra import Aegra
from tests.server.dev import KEYS
from tests.server.model import reply
from tests.servers.openai_server import OpenAIServer
from tests.servers.scripted import Answer, last_message

pytestmark = pytest.mark.slow

GRAPH = "ras"
NODES = ["retrieve", "to_triples", "merge_graph"]
BIRTH = triple_id("Mira Lund", "place of birth", "Narvik")
GO_ON = {"update": {"warnings": []}}
"""Resumes a run that was cut off: an update that changes nothing, since aegra wants some input."""


class Model(OpenAIServer):
    """Answers in the small world; the second plan waits while `hold` is set."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.free = threading.Event()
        self.free.set()
        self.held = threading.Event()

    def _answer(self, body: dict[str, Any]) -> Answer:
        answer = reply(body)
        if "Mira Lund born" in answer.text and not self.free.is_set():
            self.held.set()
            self.free.wait(60)
        return answer

    def asked(self) -> list[tuple[str, str]]:
        """Instruction and text of each request so far."""
        bodies = [request["body"] for request in self.requests]
        return [(body["messages"][0]["content"], last_message(body)) for body in bodies]


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    with Model() as model:
        yield model  # type: ignore[misc]


@pytest.fixture(scope="module")
def settings(model: Model, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    index = tmp_path_factory.mktemp("index")
    documents = [SourceDocument(d["title"], d["title"], d["text"]) for d in DOCUMENTS]
    asyncio.run(CorpusIndex.build(index, documents, encoder=None))
    return Context(
        index=str(index),
        retriever="bm25",
        planner="openai:test",
        extractor="openai:test",
        answerer="openai:test",
        base_url=model.url,
        top_k=1,
        loop="paper",
    ).changed()


@pytest.fixture(scope="module")
def aegra(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aegra]:
    with (
        tempfile.TemporaryDirectory() as share,
        psycopg.connect(postgres, autocommit=True) as connection,
    ):
        _stand_in_for_uuid_ossp(Path(share))
        connection.execute("CREATE DATABASE aegra")
        connection.execute(f"ALTER DATABASE aegra SET extension_control_path = '$system:{share}'")  # type: ignore[call-overload]
        server = Aegra(postgres.replace("/postgres?", "/aegra?"), tmp_path_factory.mktemp("aegra"))
        try:
            server.start()
            yield server
        finally:
            if server.running:
                server.stop(signal.SIGKILL)
            connection.execute("DROP DATABASE aegra WITH (FORCE)")


def _stand_in_for_uuid_ossp(share: Path) -> None:
    extension = share / "extension"
    extension.mkdir()
    (extension / "uuid-ossp.control").write_text("default_version = '1.1'\n")
    (extension / "uuid-ossp--1.1.sql").write_text(
        "CREATE FUNCTION uuid_generate_v4() RETURNS uuid LANGUAGE sql "
        "AS 'SELECT gen_random_uuid()';"
    )
    # As root, the database runs as another user.
    share.chmod(0o755)


@pytest.fixture
async def users(aegra: Aegra) -> AsyncIterator[dict[str, LangGraphClient]]:
    if not aegra.running:
        await asyncio.to_thread(aegra.start)
    clients = {}
    for name, key in KEYS.items():
        headers = {"Authorization": f"Bearer {key}"}
        clients[name] = get_client(url=aegra.url, api_key=None, headers=headers)
    yield clients
    for client in clients.values():
        await client.aclose()


@pytest.fixture
def client(users: dict[str, LangGraphClient]) -> LangGraphClient:
    return users["ada"]


async def new_thread(client: LangGraphClient) -> str:
    return str((await client.threads.create())["thread_id"])


async def streamed(client: LangGraphClient, thread: str, **given: Any) -> list[Any]:
    stream = client.runs.stream(thread, GRAPH, stream_mode="custom", **given)
    return [part.data async for part in stream if part.event in ("custom", "error")]


async def test_it_is_healthy_and_ready_and_describes_the_graph(
    aegra: Aegra, client: LangGraphClient
) -> None:
    async with httpx.AsyncClient(base_url=aegra.url) as stranger:
        for path, word in (("/health", "connected"), ("/ready", "ready"), ("/live", "alive")):
            answer = await stranger.get(path)
            assert answer.status_code == 200 and word in answer.text
    [assistant] = await client.assistants.search(graph_id=GRAPH)
    schemas: Any = await client.assistants.get_schemas(assistant["assistant_id"])
    assert schemas["input_schema"]["required"] == ["question"]
    assert "max_hops" in schemas["context_schema"]["properties"]


async def test_a_run_streams_typed_events_and_every_checkpoint_can_be_read(
    client: LangGraphClient, settings: dict[str, Any]
) -> None:
    thread = await new_thread(client)
    events = await streamed(client, thread, input={"question": QUESTION}, context=settings)
    hop = ["plan", "passages", "extracted", "graph"]
    assert [event["type"] for event in events] == ["start", *hop, *hop, "plan", "answer"]
    typed: TypeAdapter[Event] = TypeAdapter(Event)
    assert [typed.validate_python(event, strict=True) for event in events] == events
    state: Any = await client.threads.get_state(thread)
    assert (state["values"]["answer"], state["next"]) == ("Narvik", [])
    history: Any = await client.threads.get_history(thread, limit=100)
    counts = [len(step["values"].get("triples", ())) for step in history[::-1]]
    assert counts == [0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 4, 4, 4]
    before: Any = await client.threads.get_state(thread, checkpoint=history[1]["checkpoint"])
    assert before["next"] == ["answer"] and before["values"] == history[1]["values"]


async def test_ras_flow_itself_reads_the_runs_there(
    aegra: Aegra, client: LangGraphClient, settings: dict[str, Any]
) -> None:
    thread = await new_thread(client)
    await streamed(client, thread, input={"question": QUESTION}, context=settings)
    headers = {"Authorization": f"Bearer {KEYS['ada']}"}
    async with open_server_runs(aegra.url, headers) as runs:
        assert (await runs.recent(limit=1))[0].id == thread
        assert (await runs.get(thread)).summary.answer == "Narvik"
        document = await runs.document(thread)
        [branch] = document["branches"]
        assert branch["status"] == "finished" and BIRTH in document["triples"]
        nodes = [document["steps"][step]["node"] for step in branch["steps"]]
        assert nodes[1:] == ["start", *(["plan", *NODES] * 2), "plan", "answer"]


async def test_a_review_is_answered(client: LangGraphClient, settings: dict[str, Any]) -> None:
    thread = await new_thread(client)
    given = {"question": QUESTION, "settings": settings | {"pause_before_answer": True}}
    events = await streamed(client, thread, input=given)
    assert events[-1]["type"] == "review" and BIRTH in events[-1]["triples"]
    assert (await client.threads.get(thread))["status"] == "interrupted"
    edits = [{"op": "drop_triple", "triple": BIRTH}]
    result: Any = await client.runs.wait(thread, GRAPH, command={"resume": {"edits": edits}})
    assert result["answer"] == "elsewhere" and BIRTH not in result["triples"]


async def test_a_user_sees_no_thread_of_another_and_a_stranger_sees_nothing(
    aegra: Aegra, users: dict[str, LangGraphClient], settings: dict[str, Any]
) -> None:
    thread = await new_thread(users["ada"])
    await streamed(users["ada"], thread, input={"question": QUESTION}, context=settings)
    bo = users["bo"]
    [run] = await users["ada"].runs.list(thread)
    with pytest.raises(APIStatusError) as hidden:
        await bo.runs.get(thread, run["run_id"])
    assert hidden.value.status_code == 404
    assert await bo.threads.search() == [] == await bo.runs.list(thread)
    for reading in (bo.threads.get, bo.threads.get_state, bo.threads.get_history):
        with pytest.raises(APIStatusError) as refused:
            await reading(thread)
        assert refused.value.status_code == 404
    async with httpx.AsyncClient(base_url=aegra.url) as stranger:
        for headers in ({}, {"Authorization": "Bearer wrong"}):
            answer = await stranger.post("/threads/search", json={}, headers=headers)
            assert answer.status_code == 401
            assert (await stranger.get(f"/threads/{thread}/state", headers=headers)).is_error


async def is_after_a_search(client: LangGraphClient, thread: str) -> bool:
    """Tell whether the last checkpoint is of a search that is to be merged or planned after."""
    state: Any = await client.threads.get_state(thread)
    next = [task["name"] for task in state["tasks"]]
    return next in (["merge_graph"], ["plan"]) and bool(state["values"].get("hops"))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_a_run_that_the_servers_end_cut_off_is_resumed(
    number: signal.Signals,
    aegra: Aegra,
    client: LangGraphClient,
    model: Model,
    settings: dict[str, Any],
) -> None:
    thread = await new_thread(client)
    given = {"question": f"{QUESTION} ({number.name})", "settings": settings}
    model.held.clear()
    model.free.clear()
    asked = len(model.requests)
    run = await client.runs.create(thread, GRAPH, input=given)
    assert await asyncio.to_thread(model.held.wait, 60)
    # aegra writes checkpoints behind the run: the last one may be a moment late.
    until = asyncio.get_running_loop().time() + 30
    while not await is_after_a_search(client, thread):
        assert asyncio.get_running_loop().time() < until
        await asyncio.sleep(0.05)
    code = await asyncio.to_thread(aegra.stop, number)
    assert code in {signal.SIGKILL: [-9], signal.SIGTERM: [0, -15]}[number]
    model.free.set()
    await asyncio.to_thread(aegra.start)
    assert await is_after_a_search(client, thread)
    events = await streamed(client, thread, command=GO_ON)
    assert [event["type"] for event in events][-1] == "answer"
    assert events[-1]["answer"] == "Narvik"
    calls = model.asked()[asked:]
    assert len(calls) == len(set(calls)) + 1, "not only the call that was cut off was made again"
    assert (await client.runs.get(thread, run["run_id"]))["run_id"] == run["run_id"]
