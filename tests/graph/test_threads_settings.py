"""A thread keeps what its caller named; the graph's own settings are those of today."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from ras_flow import Context
from ras_flow.errors import ConfigurationError
from ras_flow.settings.limits import MODEL_SERVERS
from tests.graph.world import QUESTION, build, world

THREAD: Any = {"configurable": {"thread_id": "t"}}
ASKED = {"question": QUESTION}


@pytest.fixture(params=["memory", "sqlite"])
async def saver(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    if request.param == "memory":
        yield InMemorySaver()
        return
    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "runs.sqlite")) as kept:
        yield kept


def deployed(saver: Any, **defaults: Any) -> Any:
    return build({**world(), "defaults": Context(**defaults)}, checkpointer=saver)


async def test_a_next_question_has_the_settings_that_the_graph_has_by_then(saver: Any) -> None:
    first = await deployed(saver, max_hops=1).ainvoke(ASKED, THREAD)
    assert first["stop_reason"] == "max_hops"
    graph = deployed(saver, max_hops=5)
    second = await graph.ainvoke(ASKED, THREAD)
    assert (second["stop_reason"], second["answer"]) == ("sufficient", "Narvik")
    values = (await graph.aget_state(THREAD)).values
    assert values["defaults"] == {} == values.get("settings", {})  # Five hops are the standard.


@pytest.mark.parametrize("by", ["settings", "context"])
async def test_what_the_caller_named_is_kept_over_a_new_deployment(saver: Any, by: str) -> None:
    given, context = ({**ASKED, "settings": {"max_hops": 1}}, None)
    if by == "context":
        given, context = ASKED, Context(max_hops=1)  # type: ignore[assignment]
    await deployed(saver, top_k=1).ainvoke(given, THREAD, context=context)
    graph = deployed(saver, top_k=2, max_hops=4)
    again = await graph.ainvoke(ASKED, THREAD)
    assert again["stop_reason"] == "max_hops" and len(again["hops"]) == 1
    assert len(again["hops"][0]["passages"]) == 2
    assert (await graph.aget_state(THREAD)).values["settings"] == {"max_hops": 1}


@pytest.mark.parametrize(
    ("before", "after", "hops"), [({"max_hops": 1}, {"max_hops": 5}, 1), ({}, {"max_hops": 1}, 2)]
)
async def test_a_run_goes_on_with_the_settings_that_it_began_with(
    saver: Any, before: dict[str, Any], after: dict[str, Any], hops: int
) -> None:
    parts = world()
    began = build({**parts, "defaults": Context(**before)}, checkpointer=saver)
    await began.ainvoke(ASKED, THREAD, interrupt_before=["retrieve"])
    goes_on = build({**parts, "defaults": Context(**after)}, checkpointer=saver)
    assert len((await goes_on.ainvoke(None, THREAD))["hops"]) == hops


async def test_another_server_of_the_graphs_own_is_taken_by_old_threads(
    saver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MODEL_SERVERS, "")
    await deployed(saver, base_url="http://old.example:8000/v1").ainvoke(ASKED, THREAD)
    result = await deployed(saver, base_url="http://new.example:8000/v1").ainvoke(ASKED, THREAD)
    assert result["answer"] == "Narvik"


async def test_no_settings_are_as_good_as_none(saver: Any) -> None:
    result = await deployed(saver).ainvoke({**ASKED, "settings": None}, THREAD)
    assert result["answer"] == "Narvik"


@pytest.mark.parametrize("wrong", [{"max_hop": 1}, {"max_hops": -1}, [1], "max_hops"])
async def test_settings_that_are_refused_leave_the_thread_as_it_was(saver: Any, wrong: Any) -> None:
    graph = deployed(saver)
    await graph.ainvoke({**ASKED, "settings": {"max_hops": 1}}, THREAD)
    for given in ({**ASKED, "settings": wrong}, None):  # Going on is refused, too.
        with pytest.raises(ConfigurationError):
            await graph.ainvoke(given, THREAD)
    assert (await graph.ainvoke(ASKED, THREAD))["stop_reason"] == "max_hops"
    assert (await graph.aget_state(THREAD)).values["settings"] == {"max_hops": 1}


async def test_settings_that_are_refused_at_first_are_none_of_the_thread(saver: Any) -> None:
    graph = deployed(saver)
    with pytest.raises(ConfigurationError, match="max_hop"):
        await graph.ainvoke({**ASKED, "settings": {"max_hop": 1}}, THREAD)
    assert (await graph.aget_state(THREAD)).values["settings"] == {"max_hop": 1}
    assert (await graph.ainvoke(ASKED, THREAD))["answer"] == "Narvik"
