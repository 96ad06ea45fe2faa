"""How much is searched for and read: `top_k` and `max_triples`, each model's own or the run's."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore

from ras_flow import Context
from ras_flow.errors import ConfigurationError, MissingExtraError
from ras_flow.evaluation.kept import KeptCalls, KeptPlanner
from ras_flow.evaluation.systems.ablations import ShareAnswerer, TextOnly
from ras_flow.parts import Reading, reading_of
from ras_flow.parts.prompted import KeptText
from ras_flow.runs import Runs
from ras_flow.testing import ScriptedAnswerer, ScriptedPlanner
from tests.graph.world import QUESTION, build, read_birthplace, world
from tests.graph_llm.test_nearest import SharedWords

THREAD: Any = {"configurable": {"thread_id": "t"}}
ONE = Context(top_k=1, max_triples=1)
READ = [("Aurora Bridge", "designer", "Mira Lund"), ("Mira Lund", "place of birth", "Narvik")]


def parts(*, soft: bool = False) -> dict[str, Any]:
    second = "[SUBQ] At what place of birth was Mira Lund born?"
    return world(
        planner=ScriptedPlanner(["[SUBQ] x", second], takes_soft_tokens=soft),
        answerer=ScriptedAnswerer(read_birthplace, takes_soft_tokens=soft),
        encoder=SharedWords(),
    )


def read(request: Any) -> list[tuple[str, str, str]]:
    return [
        (triple["subject"], triple["predicate"], triple["object"])
        for link in request.chain
        for triple in link.triples
    ]


@pytest.mark.parametrize("soft", [False, True])
async def test_the_nearest_are_read_and_all_are_stored(saver: Any, soft: bool) -> None:
    asked = parts(soft=soft)
    graph = build(asked, checkpointer=saver)
    result = await graph.ainvoke({"question": QUESTION}, THREAD, context=ONE)
    assert result["answer"] == "Narvik"
    assert [read(request) for request in asked["planner"].requests] == [[], READ[:1], READ]
    [request] = asked["answerer"].requests
    assert read(request) == READ
    if soft:
        assert request.graph.nodes == ["Aurora Bridge", "Mira Lund", "Narvik"]
        assert request.graph.hops == [[0], [1]]
    stored = (await graph.aget_state(THREAD)).values
    assert len(stored["triples"]) == 4
    assert len(result["citations"]) == 2, "what is cited is looked for in the whole graph"
    # A run that was stored with the setting is read so again, as by `ras-flow runs explain`.
    document = await Runs(graph).document("t")
    assert document["branches"][-1]["settings"]["max_triples"] == 1


async def test_a_missing_encoder_is_told_before_any_model_is_asked(
    saver: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = parts() | {"encoder": None}
    graph = build(asked, checkpointer=saver)
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "transformers", None)
        with pytest.raises(MissingExtraError, match=r"ras-flow\[local\]"):
            await graph.ainvoke({"question": QUESTION}, THREAD, context=ONE)
        assert not asked["planner"].requests
        text = build(asked | {"extractor": KeptText()})
        assert (await text.ainvoke({"question": QUESTION}, context=ONE))["answer"]
    again = build(parts(), checkpointer=saver)
    assert (await again.ainvoke(None, THREAD, context=ONE))["answer"] == "Narvik"


async def test_each_model_reads_its_own_number_unless_the_run_says(saver: Any) -> None:
    asked = parts(soft=True)
    asked["planner"].reading = Reading(max_triples=1)
    graph = build(asked, checkpointer=saver)
    own = Context(top_k=1)
    events: list[Any] = [
        event
        async for event in graph.astream(
            {"question": QUESTION}, THREAD, context=own, stream_mode="custom"
        )
    ]
    encoded = [(one["nodes"], one["edges"]) for one in events if one["type"] == "encoded"]
    assert encoded == [(2, 1), (3, 2)], "what the planner reads, which is asked next"
    assert [read(request) for request in asked["planner"].requests] == [[], READ[:1], READ]
    assert len(read(asked["answerer"].requests[0])) == 4
    both = Context(top_k=1, max_triples=2)
    asked = parts(soft=True)
    asked["planner"].reading = Reading(max_triples=1)
    again = {"configurable": {"thread_id": "again"}}
    await build(asked, checkpointer=saver).ainvoke({"question": QUESTION}, again, context=both)
    assert len(read(asked["planner"].requests[-1])) == 4


@pytest.mark.parametrize(
    ("settings", "found"), [({}, [2]), ({"max_hops": 5}, [2, 2]), ({"top_k": 3}, [3])]
)
async def test_the_answerer_says_how_much_is_searched_for_unless_the_run_does(
    saver: Any, settings: dict[str, Any], found: list[int]
) -> None:
    asked = world()
    asked["planner"].reading = Reading(top_k=1)
    asked["answerer"].reading = Reading(top_k=2, max_hops=1)
    graph = build(asked, checkpointer=saver)
    await graph.ainvoke({"question": QUESTION}, THREAD, context=Context(**settings))
    hops = (await graph.aget_state(THREAD)).values["hops"]
    assert [len(hop["passages"]) for hop in hops] == found


async def test_a_reading_that_is_none_is_told_before_anything_is_searched_for(saver: Any) -> None:
    asked = world()
    asked["answerer"].reading = {"top_k": 2}
    with pytest.raises(ConfigurationError, match="`reading` of ScriptedAnswerer is a dict"):
        await build(asked, checkpointer=saver).ainvoke({"question": QUESTION}, THREAD)
    assert not asked["retriever"].queries
    for wrong in ({"top_k": 0}, {"max_triples": 0}):
        with pytest.raises(ConfigurationError, match="at least 1"):
            Reading(**wrong)


async def test_ablations_read_what_the_model_they_wrap_reads() -> None:
    planner, answerer = (parts(soft=True)[role] for role in ("planner", "answerer"))
    planner.reading = answerer.reading = Reading(top_k=2, max_triples=3)
    wrapped = (
        TextOnly(planner),
        KeptPlanner(planner, KeptCalls(InMemoryStore())),
        TextOnly(answerer),
        ShareAnswerer(answerer, 0.5),
    )
    assert {reading_of(one) for one in wrapped} == {planner.reading}
    assert reading_of(TextOnly(parts()["planner"])) == Reading()
