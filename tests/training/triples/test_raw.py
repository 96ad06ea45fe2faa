"""Outputs that are kept: nothing is written twice, and what was not read at all is tried again."""

from __future__ import annotations

import pytest
from langgraph.store.memory import InMemoryStore

from ras_flow.parts import Extraction
from ras_flow.state.schema import Passage
from ras_flow.state.schema import make_passage as passage
from ras_flow.support.calls import CallCache
from ras_flow.training.triples.raw import AT_ONCE, extract_raw
from tests.training.triples.samples import Worker


def made(passage: Passage) -> Extraction:
    return Extraction([(passage["text"], "is", "\u2028text")], ["cut"], None, 3, 4)


def last_fails(passage: Passage) -> Extraction:
    failed = passage["text"].endswith(str(AT_ONCE + 1))
    if passage["text"].endswith(f" {AT_ONCE}"):
        return Extraction([], ["cut"], "no triples", output_tokens=4)
    return Extraction([], error="too long") if failed else made(passage)


MANY = [passage("T", f"Text {i}") for i in range(AT_ONCE + 2)]


async def test_an_interrupted_measurement_goes_on() -> None:
    cache = CallCache(InMemoryStore())
    with pytest.raises(KeyboardInterrupt):
        await extract_raw(Worker(made, calls=1), MANY, cache)
    second = Worker(last_fails)
    found = await extract_raw(second, [*MANY, MANY[0]], cache)
    assert set(second.asked) == {f"Text {AT_ONCE}", f"Text {AT_ONCE + 1}"}
    assert list(found) == [one["id"] for one in MANY]
    assert found[MANY[0]["id"]] == made(MANY[0])
    assert found[MANY[-1]["id"]].error == "too long"
    third = Worker(made)
    again = await extract_raw(third, MANY, cache)
    assert set(third.asked) == {f"Text {AT_ONCE + 1}"}, "only what failed"
    assert again[MANY[0]["id"]] == found[MANY[0]["id"]]
    other = Worker(made, identity="other")
    await extract_raw(other, MANY[:1], cache)
    assert other.asked
