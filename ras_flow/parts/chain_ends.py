"""The answerer without a model: what the best evidence chain leads to."""

from __future__ import annotations

from collections.abc import Sequence

from ras_flow.parts.records import AnswerRequest, Reading, Reply
from ras_flow.settings.context import CHAIN_ENDS


class ChainEnds:
    """Answers with what the best evidence chains lead to."""

    identity = CHAIN_ENDS
    takes_soft_tokens = False
    reading = Reading(history="chains")

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
        """Answer each request."""
        return [Reply(_ends(request), calls=0) for request in requests]


def _ends(request: AnswerRequest) -> str:
    guess = request.when_unknown == "guess"
    ends = request.chains.ends(guess=guess) if request.chains else []
    if request.listed:
        return "\n".join(f"ans: {end}" for end in ends or ["not available"])
    return "; ".join(ends)
