"""Units of work in order, without a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import aclosing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ras_flow.support.concurrency import in_order
from ras_flow.support.engine import IN_PROCESS
from tests.cluster.work import after


@settings(max_examples=30)
@given(st.lists(st.integers(0, 3), max_size=12), st.integers(1, 5))
def test_results_come_in_order_with_so_many_under_way(delays: list[int], at_once: int) -> None:
    under_way, most = 0, 0

    async def work(unit: tuple[int, int]) -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        made = await IN_PROCESS.do(after, unit[1] / 1000, unit[0])
        under_way -= 1
        return made

    async def all_of_them() -> list[tuple[tuple[int, int], int]]:
        units = list(enumerate(delays))
        return [one async for one in in_order(work, units, at_once)]

    assert asyncio.run(all_of_them()) == [(unit, unit[0]) for unit in enumerate(delays)]
    assert most <= at_once


async def test_an_error_ends_what_is_under_way() -> None:
    ended: list[int] = []

    async def work(unit: int) -> None:
        try:
            await asyncio.sleep(0.01 if unit == 1 else 60)
        finally:
            ended.append(unit)
        raise ValueError(unit)

    with pytest.raises(ValueError, match="1"):
        async with aclosing(in_order(work, [1, 2, 3], 3)) as made:
            async for _ in made:
                pass
    assert sorted(ended) == [1, 2, 3]


async def test_units_are_drawn_as_there_is_room_for_them() -> None:
    drawn: list[int] = []

    def units() -> Iterator[int]:
        for unit in range(9):
            drawn.append(unit)
            yield unit

    async with aclosing(in_order(lambda unit: after(0, unit), units(), 2)) as made:
        async for unit, _ in made:
            assert len(drawn) <= unit + 2
    assert len(drawn) == 9
