"""Which questions a base model answers without retrieval (algorithm 1, lines 3 to 7).

The model is asked as the answerer asks it at inference, without a graph (eq. 7). It knows an
answer if its reply, normalised, equals the gold answer; for multiple choice also with the options
in other orders. Yes and no do not count: half of them come by chance.
"""

from __future__ import annotations

from ras_flow.formats.answer import clean_answer
from ras_flow.formats.normalize import normalize_name
from ras_flow.parts.protocols import Answerer
from ras_flow.parts.records import AnswerRequest
from ras_flow.training.data.case import Case

MAX_NEW_TOKENS = 50


async def knows(case: Case, answerer: Answerer) -> bool:
    """Tell whether a model answers a question out of its own head."""
    if case.guessable or not case.answer:
        return False
    for question, answer in [(case.question, case.answer), *case.variants]:
        request = AnswerRequest(
            question, instruction=case.instruction, max_new_tokens=MAX_NEW_TOKENS
        )
        [reply] = await answerer.answer([request])
        said = clean_answer(reply.text).split("\n")[0]
        if case.variants:  # "B. the wind" names option B.
            said = said.split(".")[0].split(")")[0]
        if normalize_name(said) != normalize_name(answer):
            return False
    return True
