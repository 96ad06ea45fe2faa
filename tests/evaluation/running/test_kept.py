"""What planners and extractors returned is kept: asked for once, told of each time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import perf_counter

from langgraph.store.memory import InMemoryStore

from ras_flow.components import ChainLink, Extraction, PlanRequest, Reply
from ras_flow.evaluation.kept import ASKING, KeptCalls, KeptExtractor, KeptPlanner
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


async def test_passages_that_several_ask_for_at_once_are_extracted_once() -> None:
    made = SlowExtractor()
    kept = KeptExtractor(made, KeptCalls(InMemoryStore()))
    first, second, third = await asyncio.gather(
        kept.extract(passages("a", "b")),
        kept.extract(passages("b", "c")),
        kept.extract(passages("c", "a")),
    )
    assert sorted(id for call in made.calls for id in call) == ["a", "b", "c"]
    assert [one.triples[0][0] for one in [*first, *second, *third]] == list("abbcca")
    assert all((one.input_tokens, one.output_tokens) == (7, 3) for one in [*second, *third])
    assert all(one.dropped == ["?"] for one in third)


async def test_it_is_told_what_a_run_did_not_pay_for_also_after_a_step_that_is_done_again() -> None:
    store = InMemoryStore()
    kept = KeptExtractor(SlowExtractor(), KeptCalls(store))

    async def ask(run: str) -> None:
        ASKING.set(run)
        await kept.extract(passages("a", "b"))

    for run in ("first", "second", "second"):
        await asyncio.create_task(ask(run))
    calls = KeptCalls(store)
    assert await calls.saved("first") == {}
    saved = (await calls.saved("second"))["extractor"]
    assert (saved["calls"], saved["input_tokens"], saved["output_tokens"]) == (2, 14, 6)
    assert 0.01 < saved["seconds"] < 1
    # Killed before its step was kept: it paid, and the time is not in the step that is done again.
    await asyncio.create_task(ask("first"))
    again = (await calls.saved("first"))["extractor"]
    assert (again["calls"], again["input_tokens"], again["output_tokens"]) == (0, 0, 0)
    assert again["seconds"] > 0.01


async def test_passages_that_were_extracted_at_once_took_their_time_together() -> None:
    calls = KeptCalls(InMemoryStore())
    kept = KeptExtractor(SlowExtractor(), calls)

    async def ask(run: str) -> None:
        ASKING.set(run)
        await asyncio.gather(*(kept.extract(passages(id)) for id in "abcde"))

    began = perf_counter()
    await asyncio.gather(asyncio.create_task(ask("first")), asyncio.create_task(ask("waiting")))
    seconds = perf_counter() - began
    await asyncio.create_task(ask("later"))
    assert 0.01 < (await calls.saved("later"))["extractor"]["seconds"] < seconds
    assert (await calls.saved("waiting"))["extractor"]["seconds"] < 0.01


async def test_a_failure_is_not_kept() -> None:
    made = SlowExtractor(error="server gone")
    kept = KeptExtractor(made, KeptCalls(InMemoryStore()))
    assert (await kept.extract(passages("a")))[0].error == "server gone"
    made.error = None
    assert (await kept.extract(passages("a")))[0].error is None
    assert (await kept.extract(passages("a")))[0].error is None
    assert len(made.calls) == 2


async def test_a_plan_is_asked_for_again_only_where_something_differs() -> None:
    class Planner:
        identity = "planner"
        takes_soft_tokens = False
        asked = 0

        async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
            self.asked += len(requests)
            return [Reply(f"[SUBQ] {self.asked}", 9, 2, 1, 2) for _ in requests]

    planner = Planner()
    kept = KeptPlanner(planner, KeptCalls(InMemoryStore()))
    triple = Triple(subject="a", predicate="b", object="c", passages=[])
    requests = [
        PlanRequest("q"),
        PlanRequest("q", [ChainLink("q", [triple])]),
        PlanRequest("q", [ChainLink("q", [])]),
        PlanRequest("q", instruction="i"),
        PlanRequest("q", problem="p"),
    ]
    first = [(await kept.plan([request]))[0] for request in requests]
    again = await kept.plan(requests)
    assert planner.asked == len(requests)
    assert again == first == [Reply(f"[SUBQ] {n}", 9, 2, 1, 2) for n in range(1, 6)]
