"""The order in which a training sees its examples."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ras_flow.training.order import LengthGrouped


@given(st.lists(st.integers(1, 900), max_size=60), st.integers(1, 9), st.integers(0, 3))
def test_every_example_comes_once_an_epoch(lengths: list[int], size: int, epoch: int) -> None:
    order, same = (LengthGrouped(lengths, size, seed=1) for _ in range(2))
    for one in (order, same):
        one.set_epoch(epoch)
    assert sorted(order) == list(range(len(lengths)))
    assert list(order) == list(same)


def test_similar_lengths_come_together_in_another_order_each_epoch() -> None:
    lengths = [(i * 37) % 101 for i in range(200)]
    order = LengthGrouped(lengths, 10, seed=1)
    first = list(order)
    spread = [
        max(lengths[at] for at in first[i : i + 10]) - min(lengths[at] for at in first[i : i + 10])
        for i in range(0, 200, 10)
    ]
    assert sum(spread) / len(spread) < 20
    order.set_epoch(1)
    assert list(order) != first
