"""Settings are resolved once, at a question's start, and hold for that question alone."""

from __future__ import annotations

from typing import Any

import pytest

from ras_flow import Context, Runs
from ras_flow.errors import ConfigurationError
from ras_flow.settings.limits import MODEL_SERVERS
from ras_flow.testing import ScriptedAnswerer
from tests.graph.world import QUESTION, build, world

THREAD: Any = {"configurable": {"thread_id": "t"}}
ASKED = {"question": QUESTION}


def deployed(saver: Any, **defaults: Any) -> Any:
    return build({**world(), "defaults": Context(**defaults)}, checkpointer=saver)


@pytest.mark.parametrize(
    ("given", "context"), [({"settings": {"max_hops": 1}}, None), ({}, Context(max_hops=1))]
)
async def test_a_next_question_starts_from_the_graphs_own_settings(
    saver: Any, given: Any, context: Context | None
) -> None:
    first = await deployed(saver, top_k=1).ainvoke({**ASKED, **given}, THREAD, context=context)
    assert first["stop_reason"] == "max_hops"
    graph = deployed(saver, top_k=2)
    second = await graph.ainvoke(ASKED, THREAD)
    assert (second["stop_reason"], second["answer"]) == ("sufficient", "Narvik")
    assert (await graph.aget_state(THREAD)).values["context"] == {"top_k": 2}


@pytest.mark.parametrize("context", [Context(max_hops=1), {"max_hops": 1}])
async def test_a_context_overrides_the_inputs_settings_and_the_graphs_field_by_field(
    saver: Any, context: Any
) -> None:
    graph = deployed(saver, max_hops=4, answer_passages=2)
    given = {**ASKED, "settings": {"max_hops": 2, "top_k": 1}}
    await graph.ainvoke(given, THREAD, context=context)
    kept = (await graph.aget_state(THREAD)).values["context"]
    assert kept == {"max_hops": 1, "top_k": 1, "answer_passages": 2}


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
    assert (await graph.aget_state(THREAD)).values["context"] == {"max_hops": 1}
    assert (await graph.ainvoke(ASKED, THREAD))["answer"] == "Narvik"


@pytest.mark.parametrize("edits", [[], [{"op": "model", "role": "extractor", "name": "none"}]])
async def test_a_fork_from_before_the_start_keeps_a_contexts_settings(
    saver: Any, edits: Any
) -> None:
    graph = build(world() | {"extractor": None}, checkpointer=saver)
    context = Context(max_hops=1, extractor="none", top_k=2)
    await graph.ainvoke(ASKED, THREAD, context=context)
    runs = Runs(graph)
    [branch] = (await runs.document("t"))["branches"]
    async for _ in runs.fork("t", branch["steps"][0], edits):
        pass
    *_, forked = (await runs.document("t"))["branches"]
    assert forked["number"] == 2
    assert forked["settings"] == {"max_hops": 1, "extractor": "none", "top_k": 2}


async def test_a_next_question_finds_out_anew_whether_its_models_take_soft_tokens(
    saver: Any,
) -> None:
    await build(world(), checkpointer=saver).ainvoke(ASKED, THREAD)
    reads = ScriptedAnswerer("Narvik", takes_soft_tokens=True)
    graph = build(world(answerer=reads), checkpointer=saver)
    written = [event async for event in graph.astream(ASKED, THREAD, stream_mode="custom")]
    assert "encoded" in [event["type"] for event in written]
