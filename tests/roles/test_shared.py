"""Concurrent callers of one extractor: shared work, no shared failure of a caller."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from ras_flow.errors import ModelUnavailableError
from ras_flow.parts import Extraction
from ras_flow.parts.prompted import SharedExtractor
from ras_flow.state.schema import Passage


class Gate:
    """Extracts a passage when its gate is opened."""

    identity = "gate"
    batch_size = 8

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.cancelled = 0
        self.open = asyncio.Event()
        self.error: Exception | None = None

    async def extract(self, passages: Sequence[Passage]) -> list[Extraction]:
        self.asked.append([passage["id"] for passage in passages])
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.error:
            raise self.error
        return [Extraction([(p["id"], "is", "here")], None or [], None, 10, 3) for p in passages]


def some(ids: str) -> list[Passage]:
    return [Passage(id=id, title=id, text=id) for id in ids]


def facts(made: list[Extraction]) -> str:
    return "".join(one.triples[0][0] for one in made)


async def test_what_is_under_way_is_waited_for_and_paid_for_once() -> None:
    gate = Gate()
    shared = SharedExtractor(gate)
    first = asyncio.create_task(shared.extract(some("ab")))
    second = asyncio.create_task(shared.extract(some("bcb")))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    gate.open.set()
    one, two = await asyncio.gather(first, second)
    assert (facts(one), facts(two)) == ("ab", "bcb")
    assert gate.asked == [["a", "b"], ["c"]]
    assert [made.input_tokens for made in one] == [10, 10]
    assert [made.output_tokens for made in two] == [0, 3, 0]
    assert [made.calls for made in two] == [0, 1, 0]
    await shared.extract(some("a"))
    assert gate.asked[2:] == [["a"]], "nothing is remembered: that is the store's part"
    assert await shared.extract([]) == []


async def test_a_cancelled_caller_takes_nothing_from_the_others() -> None:
    gate = Gate()
    shared = SharedExtractor(gate)
    first = asyncio.create_task(shared.extract(some("ab")))
    second = asyncio.create_task(shared.extract(some("b")))
    await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.sleep(0.01)
    gate.open.set()
    assert facts(await second) == "b"
    assert first.cancelled() and not gate.cancelled and len(gate.asked) == 1


async def test_work_that_nobody_waits_for_is_cancelled_and_can_be_asked_for_again() -> None:
    gate = Gate()
    shared = SharedExtractor(gate)
    callers = [asyncio.create_task(shared.extract(some("a"))) for _ in range(2)]
    await asyncio.sleep(0.01)
    for caller in callers:
        caller.cancel()
    await asyncio.gather(*callers, return_exceptions=True)
    again = asyncio.create_task(shared.extract(some("a")))
    await asyncio.sleep(0.01)
    gate.open.set()
    assert facts(await again) == "a"
    assert gate.cancelled == 1 and gate.asked == [["a"], ["a"]]


async def test_a_failure_reaches_every_caller_and_is_not_kept() -> None:
    gate = Gate()
    gate.error = ModelUnavailableError("away")
    shared = SharedExtractor(gate)
    callers = [asyncio.create_task(shared.extract(some("a"))) for _ in range(2)]
    await asyncio.sleep(0.01)
    gate.open.set()
    for caller in callers:
        with pytest.raises(ModelUnavailableError, match="away"):
            await caller
    gate.error = None
    assert facts(await shared.extract(some("a"))) == "a"


async def test_a_failure_is_not_kept_for_a_caller_that_waits_for_other_work_too() -> None:
    failing, slow = Gate(), Gate()
    failing.error = ModelUnavailableError("away for a moment")
    shared = SharedExtractor(failing)
    first = asyncio.create_task(shared.extract(some("a")))
    await asyncio.sleep(0.01)
    shared.extractor = slow
    both = asyncio.create_task(shared.extract(some("ab")))
    await asyncio.sleep(0.01)
    failing.open.set()
    with pytest.raises(ModelUnavailableError):
        await first
    later = [asyncio.create_task(shared.extract(some(ids))) for ids in ("a", "ab")]
    await asyncio.sleep(0.01)
    slow.open.set()
    assert [facts(made) for made in await asyncio.gather(*later)] == ["a", "ab"]
    assert slow.asked == [["b"], ["a"]], "what was asked for again is under way, as anything else"
    with pytest.raises(ModelUnavailableError):
        await both


def test_event_loops_do_not_share() -> None:
    gate = Gate()
    gate.open.set()
    shared = SharedExtractor(gate)
    assert [facts(asyncio.run(shared.extract(some("a")))) for _ in range(2)] == ["a", "a"]
