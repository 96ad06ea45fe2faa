"""Which answers a base model knows without retrieval."""

from __future__ import annotations

from collections.abc import Sequence

from ras_flow.parts import AnswerRequest, Reply
from ras_flow.training.data.attempts import knows


class Parrot:
    identity, takes_soft_tokens = "parrot", False

    def __init__(self, *said: str) -> None:
        self.said = list(said)

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
        return [Reply(self.said.pop(0)) for _ in requests]


async def test_an_answer_is_known_if_the_model_gives_it() -> None:
    assert await knows(Parrot(" YES. "), "Who says yes?", "Yes")
    assert not await knows(Parrot("somebody"), "Who?", "nobody")
    assert not await knows(Parrot(""), "Who?", "")


async def test_an_option_is_known_if_it_is_chosen_in_every_order() -> None:
    variants = [("A wind, B rain?", "A")]
    assert await knows(Parrot("B. the wind", "A) wind"), "?", "B", variants=variants)
    assert not await knows(Parrot("B. the wind", "B"), "?", "B", variants=variants)
