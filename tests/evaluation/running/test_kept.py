"""What planners and extractors returned is kept: asked for once, told of each time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from langgraph.store.memory import InMemoryStore

from ras_flow.evaluation import kept as kept_calls
from ras_flow.evaluation.kept import ASKING, KeptCalls, KeptExtractor, KeptPlanner
from ras_flow.parts import AttributedGraph, ChainLink, Extraction, PlanRequest, Reply
from ras_flow.state.schema import Passage, Triple


class SlowExtractor:
    identity = "slow"
    batch_size = 8

    def __init__(self, error: str | None = None) -> None:
        self.calls: list[list[str]] = []
        self.error = error

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        self.calls.append([passage["id"] for passage in passages])
        await asyncio.sleep(0.02)
        return [
            Extraction([(passage["id"], "is", "x")], ["?"], self.error, 7, 3)
            for passage in passages
        ]


def passages(*ids: str) -> list[Passage]:
    return [Passage(id=id, title=id, text=id) for id in ids]


async def test_it_is_told_what_a_run_did_not_pay_for_also_after_a_step_that_is_done_again() -> None:
    store = InMemoryStore()
    made = SlowExtractor()
    kept = KeptExtractor(made, KeptCalls(store))

    async def ask(run: str) -> None:
        ASKING.set(run)
        await kept.extract(passages(*"abcdefghijkl"))

    for run in ("first", "second", "second"):
        await asyncio.create_task(ask(run))
    calls = KeptCalls(store)
    assert await calls.saved("first") == {}
    saved = (await calls.saved("second"))["extractor"]
    assert (saved["calls"], saved["input_tokens"], saved["output_tokens"]) == (12, 84, 36)
    assert 0.01 < saved["seconds"] < 1
    # Killed before its step was kept: it paid, and the time is not in the step that is done again.
    await asyncio.create_task(ask("first"))
    again = (await calls.saved("first"))["extractor"]
    assert (again["calls"], again["input_tokens"], again["output_tokens"]) == (0, 0, 0)
    assert again["seconds"] > 0.01
    await calls.forget("second")
    assert await calls.saved("second") == {} and await calls.saved("first")
    assert len(made.calls) == 1


async def test_calls_that_are_under_way_at_once_took_their_time_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(kept_calls, "perf_counter", lambda: now)
    may_end = {id: asyncio.Event() for id in "abc"}

    class Gated(SlowExtractor):
        async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
            await may_end[passages[0]["id"]].wait()
            return await super().extract(passages)

    calls = KeptCalls(InMemoryStore())
    kept = KeptExtractor(Gated(), calls)

    async def ask(run: str, ids: str) -> None:
        ASKING.set(run)
        await kept.extract(passages(*ids))

    asked: dict[str, asyncio.Task[None]] = {}
    for time, run, ids in (
        (0, "one", "a"),
        (0, "other", "c"),
        (2, "one", "bd"),
        (4, "other", "ab"),
    ):
        now = time
        asked[ids] = asyncio.create_task(ask(run, ids))
        await asyncio.sleep(0.01)
    now = 10
    may_end["a"].set()
    await asked["a"]
    now = 14
    for gate in may_end.values():
        gate.set()
    await asyncio.gather(*asked.values())
    # Two seconds alone and half of eight; half of eight and four alone, for two passages; four
    # alone and half of ten. The other run waited the other half of the ten, for two passages.
    seconds = {"a": 6, "b": 4, "d": 4, "c": 9}
    assert (await calls.saved("other"))["extractor"]["seconds"] == 6 + 4 - 5
    for id, took in seconds.items():
        await asyncio.create_task(ask(f"later {id}", id))
        assert (await calls.saved(f"later {id}"))["extractor"]["seconds"] == took


async def test_a_failure_is_not_kept() -> None:
    made = SlowExtractor(error="server gone")
    kept = KeptExtractor(made, KeptCalls(InMemoryStore()))
    assert (await kept.extract(passages("a")))[0].error == "server gone"
    made.error = None
    assert (await kept.extract(passages("a")))[0].error is None
    assert (await kept.extract(passages("a")))[0].error is None
    assert len(made.calls) == 2


WORDS = [("a", "b", "c"), ("x", "b", "c"), ("a", "x", "c"), ("a", "b", "x")]


async def test_a_plan_is_asked_for_again_only_where_something_differs() -> None:
    class Planner:
        identity = "planner"
        takes_soft_tokens = False
        asked = 0

        async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
            self.asked += len(requests)
            return [Reply(f"[SUBQ] {self.asked}", 9, 2, 1, 2) for _ in requests]

    planner = Planner()
    calls = KeptCalls(InMemoryStore())
    kept = KeptPlanner(planner, calls)
    triples = [Triple(subject=s, predicate=p, object=o, passages=[]) for s, p, o in WORDS]
    none, edges = np.zeros((0, 2), np.float32), np.zeros((2, 0), np.int64)
    encoded = [AttributedGraph([], none, [], none, edges, [], none, id) for id in "ab"]
    requests = [
        PlanRequest("q"),
        PlanRequest("r"),
        PlanRequest("\ud83d"),
        *(PlanRequest("q", [ChainLink("q", [triple])]) for triple in triples),
        *(PlanRequest("q", [ChainLink("q", [], passages(id))]) for id in "ab"),
        *(PlanRequest("q", graph=graph) for graph in encoded),
        PlanRequest("q", [ChainLink("q", [])]),
        PlanRequest("q", [ChainLink("r", [])]),
        PlanRequest("q", [ChainLink("q", [], known=True)]),
        PlanRequest("q", instruction="i"),
        PlanRequest("q", problem="p"),
    ]
    first = [(await kept.plan([request]))[0] for request in requests]
    again = await kept.plan(requests)
    assert planner.asked == len(requests)
    assert again == first == [Reply(f"[SUBQ] {n}", 9, 2, 1, 2) for n in range(1, len(requests) + 1)]
    await KeptPlanner(planner, calls, window=2000).plan(requests[:1])
    assert planner.asked == len(requests) + 1, "a smaller window may leave something out"
