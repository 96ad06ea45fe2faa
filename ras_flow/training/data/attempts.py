"""Which questions a base model answers without retrieval (algorithm 1, lines 3 to 7).

The model is asked as the answerer asks it at inference, without a graph (eq. 7). It knows an
answer if its reply, normalised, equals the gold answer; for multiple choice also with the options
in other orders.
"""

from __future__ import annotations

from collections.abc import Sequence

from ras_flow.formats.answer import clean_answer
from ras_flow.formats.normalize import normalize_name
from ras_flow.parts.protocols import Answerer
from ras_flow.parts.records import AnswerRequest

MAX_NEW_TOKENS = 50


async def knows(
    answerer: Answerer,
    question: str,
    answer: str,
    *,
    instruction: str = "",
    variants: Sequence[tuple[str, str]] = (),
) -> bool:
    """Tell whether a model answers a question, and each of its variants, without any passage."""
    for asked, expected in [(question, answer), *variants]:
        request = AnswerRequest(asked, instruction=instruction, max_new_tokens=MAX_NEW_TOKENS)
        [reply] = await answerer.answer([request])
        said = clean_answer(reply.text).split("\n")[0]
        if variants:  # "B. the wind" names option B.
            said = said.split(".")[0].split(")")[0]
        if not expected or normalize_name(said) != normalize_name(expected):
            return False
    return True
