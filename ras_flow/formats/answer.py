"""The answer as the answerer writes it, without what models put around it."""

from __future__ import annotations

import re

from ras_flow.formats.text import UNSTORABLE

_THOUGHT = re.compile(r"<think(?:ing)?>.*?(</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_PREFIX = re.compile(r"^(?:final\s+)?(?:answer|output)\s*:\s*", re.IGNORECASE)
_QUOTES = {'"': '"', "'": "'", "“": "”", "«": "»", "`": "`"}


def without_thoughts(text: str) -> str:
    """Return a model's reply without what it says to itself first, between tags of thinking."""
    # The opening tag may have been part of the prompt.
    return _THOUGHT_END.split(_THOUGHT.sub("", text))[-1]


def clean_answer(text: str) -> str:
    """Take the answer out of a model's reply.

    Args:
        text: The reply.

    Returns:
        The reply without thoughts, an "Answer:" in front, or quotes around the whole, and without
        characters that a checkpoint cannot hold (NUL, halves of surrogate pairs); empty if nothing
        is left.
    """
    spoken = without_thoughts(UNSTORABLE.sub("", text))
    answer = _PREFIX.sub("", spoken.strip()).strip()
    if len(answer) > 1 and _QUOTES.get(answer[0]) == answer[-1]:
        inner = answer[1:-1]
        if answer[0] not in inner and answer[-1] not in inner:
            answer = inner.strip()
    return answer
