"""The answerer without a model: what the best evidence chain leads to."""

from __future__ import annotations

from collections.abc import Sequence

from ras_flow.errors import ConfigurationError
from ras_flow.parts.records import AnswerRequest, Reply
from ras_flow.settings.context import CHAIN_ENDS


class ChainEnds:
    """Answers with the targets of the chains that join the most entities and score best."""

    identity = CHAIN_ENDS
    takes_soft_tokens = False

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
        """Answer each request."""
        return [Reply(_ends(request), calls=0) for request in requests]


def _ends(request: AnswerRequest) -> str:
    if request.chains is None:
        raise ConfigurationError(
            f'The answerer {CHAIN_ENDS!r} reads chains: set history="chains", or name a model.'
        )
    ends = request.chains.ends
    if request.listed:
        return "\n".join(f"ans: {end}" for end in ends or ["not available"])
    return "; ".join(ends)
