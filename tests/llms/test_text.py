"""Texts that only repeat themselves are found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ras_flow.llms.local.text import LONGEST_BLOCK, LOOP, repeats


@given(
    st.lists(st.integers(0, 3), max_size=40),
    st.lists(st.integers(0, 9), min_size=1, max_size=LONGEST_BLOCK),
)
def test_a_text_that_repeats_itself_is_seen_as_soon_as_the_loop_is_long_enough(
    before: list[int], block: list[int]
) -> None:
    copies = max(2, -(-LOOP // len(block)))
    looping = before + block * copies
    assert repeats(looping)
    assert repeats(looping + block[: len(block) // 2])
    assert not repeats([*looping, 99])
    assert not repeats(list(range(200)) + looping[: LOOP // 2])
