"""The answer as the answerer writes it, without what models put around it."""

from __future__ import annotations

import re

from ras_flow.formats.text import UNSTORABLE

THOUGHT = r"(?:think(?:ing)?|thought|seed:think)>"
"""Regular expression of the tag around a model's thoughts, after the "<" or "</"."""

# Models of Mistral and Moonshot use other brackets.
_THOUGHT_END = re.compile(rf"</{THOUGHT}|\[/THINK\]|◁/think▷", re.IGNORECASE)
_THOUGHT = re.compile(
    rf"(?:<{THOUGHT}|\[THINK\]|◁think▷).*?({_THOUGHT_END.pattern}|\Z)", re.DOTALL | re.IGNORECASE
)
_LABEL = r"(?:final\s+)?(?:answer|output)\s*"
_PREFIX = re.compile(rf"(\*+){_LABEL}(?:[:：]\s*\1|\1\s*[:：])\s*|{_LABEL}[:：]\s*", re.IGNORECASE)
_PAIRS = {
    **{"“": "”", "‘": "’", "«": "»", "„": "“", "»": "«", "「": "」", "『": "』"},
    # Of models that were trained on mathematics, or to search.
    **{"\\boxed{\\text{": "}}", "\\boxed{": "}", "<answer>": "</answer>"},
}
_AROUND = ('"', "'", "`", "***", "**", "*", *_PAIRS)


def without_thoughts(text: str) -> str:
    """Return a model's reply without the thoughts before it."""
    # The opening tag may have been part of the prompt.
    return _THOUGHT_END.split(_THOUGHT.sub("", text))[-1]


def clean_answer(text: str) -> str:
    """Take the answer out of a model's reply."""
    spoken = _inner(without_thoughts(UNSTORABLE.sub("", text)).strip())
    prefix = _PREFIX.match(spoken)
    return _inner(spoken[prefix.end() :].strip()) if prefix else spoken


def _inner(text: str) -> str:
    """Take away what is around the whole."""
    for opening in _AROUND:
        closing = _PAIRS.get(opening, opening)
        inner = text.removeprefix(opening).removesuffix(closing)
        enclosed = len(inner) == len(text) - len(opening) - len(closing)
        if enclosed and opening[0] not in inner and closing[0] not in inner:
            return inner.strip()
    return text
