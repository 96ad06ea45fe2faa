"""Texts that only repeat themselves: found, and turned back."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ras_flow.llms.local.text import LONGEST_BLOCK, LOOP, Choice, Text, repeats, second_copy

OTHER = 100
"""Added to a token for the second likeliest in its place."""


def written(tokens: Sequence[int], leads: Sequence[float] = ()) -> Text:
    text = Text((), 4)
    for at, token in enumerate(tokens):
        lead = leads[at] if at < len(leads) else 5.0
        text.append(Choice(token, token + OTHER, lead))
    return text


def everywhere(before: Sequence[int], token: int) -> bool:
    return True


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


@given(
    st.lists(st.integers(0, 3), max_size=40),
    st.lists(st.integers(0, 9), min_size=1, max_size=LONGEST_BLOCK),
)
def test_the_second_copy_follows_one_that_is_the_same(before: list[int], block: list[int]) -> None:
    looping = before + block * max(2, -(-LOOP // len(block)))
    copy = second_copy(looping, LOOP)
    size = len(copy)
    assert looping[copy.start : copy.stop] == looping[copy.start - size : copy.start]
    assert copy.stop <= len(looping) and size <= len(block)


def test_a_loop_goes_on_otherwise_where_the_second_likeliest_was_nearest() -> None:
    block = list(range(16))
    leads = [0.1] * 16 + [5.0] * 9 + [1.0] + [5.0] * 6  # Less in the first copy, which stays.
    text = written(block + block[:-1], leads)
    assert not text.turn(everywhere)
    text = written(block * 2, leads)
    assert text.turn(everywhere)
    assert text.tokens == [*block, *block[:9], 9 + OTHER]


@pytest.mark.parametrize(
    ("turns", "left"), [(1, [50, 1, 2, 50, 3, 4, 50, 1, 2 + OTHER]), (0, [50, 1, 2, 50, 3, 4])]
)
def test_an_item_that_was_written_before_goes_on_otherwise_or_ends_the_text(
    turns: int, left: list[int]
) -> None:
    text = Text((), turns, [50])
    for at, token in enumerate([50, 1, 2, 50, 3, 4, 50, 1, 2, 50]):
        assert not text.turn(everywhere) and not text.ended
        text.append(Choice(token, token + OTHER, 1.0 if at == 8 else 5.0))
    assert text.turn(everywhere) == bool(turns) != text.ended
    assert text.tokens == left


def test_a_text_turns_back_only_as_often_as_it_may() -> None:
    text, turns = Text((), 3), 0
    for _ in range(40 * LOOP):
        # However it went on, it comes to write the same block again.
        text.append(Choice(len(text.tokens) % 16, OTHER, 1.0))
        turns += text.turn(everywhere)
    assert turns == 3
    assert repeats(text.tokens)


def test_what_is_guessed_after_a_turn_follows_from_what_is_still_written() -> None:
    text = Text([7, 8, 9], 1)
    for token in [7, *list(range(20, 36)) * 2]:
        text.append(Choice(token, 7, 1.0 if token == 30 else 5.0))
    assert text.turn(everywhere)
    assert text.tokens[-1] == 7 and len(text.tokens) == 1 + 16 + 11
    assert text.guess(2) == [20, 21]
