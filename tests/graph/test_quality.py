"""Rules for what enters the graph come after the cache, and say what they left out."""

from __future__ import annotations

from typing import Any

from langgraph.store.memory import InMemoryStore

from ras_flow import Context
from ras_flow.testing import MappingExtractor, ScriptedPlanner
from ras_flow.triples.cache import read_kept
from tests.graph.world import build, world

ROUGH = {
    "Mira Lund": "(S> She| P> place of birth| O> Narvik), (S> he| P> met| O> Bo), "
    "(S> Mira Lund| P> is| O> mira lund), (S> cut"
}


async def run(store: InMemoryStore) -> tuple[list[tuple[str, ...]], dict[str, Any], list[Any]]:
    extractor = MappingExtractor(ROUGH)
    parts = world(planner=ScriptedPlanner(["[SUBQ] x", "[SUFFICIENT]"]), extractor=extractor)
    graph = build(parts, store=store)
    events = [
        event
        async for event in graph.astream(
            {"question": "Was Mira Lund an engineer?"},
            context=Context(top_k=1),
            stream_mode="custom",
        )
    ]
    [extracted] = [event for event in events if event["type"] == "extracted"]
    [grown] = [event for event in events if event["type"] == "graph"]
    new = [(t["subject"], t["predicate"], t["object"]) for t in grown["new"]]
    return new, extracted, extractor.calls


async def test_the_graph_is_refined_and_the_cache_is_raw() -> None:
    store = InMemoryStore()
    new, extracted, _ = await run(store)
    assert new == [("Mira Lund", "place of birth", "Narvik")]
    assert (extracted["triples"], extracted["dropped"]) == (1, 3)
    assert extracted["reasons"] == {"unreadable": 1, "pronoun": 1, "subject as object": 1}
    [kept] = [kept async for kept in read_kept(store)]
    assert [subject for subject, _, _ in kept.triples] == ["She", "he", "Mira Lund"]

    again, extracted, calls = await run(store)
    assert calls == [] and again == new
    assert extracted["reasons"] == {"pronoun": 1, "subject as object": 1}
