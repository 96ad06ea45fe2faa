"""Blocks of a prompt: what does not fit into the window is left out or shortened."""

from __future__ import annotations

import pytest

from ras_flow.errors import InputError
from ras_flow.evaluation.systems.prompting import Block, fit, passage_blocks
from ras_flow.parts.prompted.prompting import MESSAGE_OVERHEAD
from ras_flow.state.schema import Passage
from ras_flow.testing import ScriptedModel

QUESTION = Block("Question: what is the capital?")
SMALL = [Passage(id=f"{i}", title=f"P{i}", text="Paris is the capital.") for i in range(4)]
LONG = Passage(id="l", title="Long one", text="France is a country. " * 500)


def in_room(room: int, blocks: list[Block]) -> tuple[str, int]:
    """Fit blocks into a message of so many words; each block takes one more than it has."""
    return fit(ScriptedModel(window=room + MESSAGE_OVERHEAD), [], blocks)


def test_the_last_passages_are_left_out_first() -> None:
    blocks = [*passage_blocks(SMALL), QUESTION]
    whole = "\n".join(block.text for block in blocks)
    assert in_room(30, blocks) == (whole, 0)
    assert in_room(29, blocks) == (whole.replace("[P3] Paris is the capital.\n", ""), 1)
    assert in_room(6, blocks) == (QUESTION.text, 4)
    with pytest.raises(InputError, match="take 6 tokens, but only 5 fit"):
        in_room(5, blocks)


def test_a_passage_larger_than_the_window_leaves_the_others_in_and_is_shortened() -> None:
    blocks = [*passage_blocks([LONG, *SMALL]), QUESTION]
    text, lost = in_room(40, blocks)
    assert text.split("\n") == [
        "[Long one] France is a country. France is a",
        *(block.text for block in blocks[1:]),
    ]
    assert lost == 1
    # No word of it fits next to the others.
    assert in_room(33, blocks) == ("\n".join(block.text for block in blocks[1:]), 1)
