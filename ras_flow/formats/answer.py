"""The answer as the answerer writes it, without what models put around it."""

from __future__ import annotations

import re

from ras_flow.formats.text import UNSTORABLE, spoken

_PREFIX = re.compile(r"^(?:final\s+)?(?:answer|output)\s*:\s*", re.IGNORECASE)
_QUOTES = {'"': '"', "'": "'", "“": "”", "«": "»", "`": "`"}


def clean_answer(text: str) -> str:
    """Take the answer out of a model's reply.

    Args:
        text: The reply.

    Returns:
        The reply without thoughts, an "Answer:" in front, or quotes around the whole, and without
        characters that a checkpoint cannot hold (NUL, halves of surrogate pairs); empty if nothing
        is left.
    """
    answer = _PREFIX.sub("", spoken(UNSTORABLE.sub("", text)).strip()).strip()
    if len(answer) > 1 and _QUOTES.get(answer[0]) == answer[-1]:
        inner = answer[1:-1]
        if answer[0] not in inner and answer[-1] not in inner:
            answer = inner.strip()
    return answer
