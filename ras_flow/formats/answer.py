"""The answer as the answerer writes it, without what models put around it."""

from __future__ import annotations

import re

from ras_flow.formats.reply import spoken
from ras_flow.formats.text import UNSTORABLE

UNKNOWN_ANSWER = "The documents do not say."
"""What a run answers where the documents do not hold the answer, and what models are told to."""

_UNKNOWN = re.compile(
    r"[\W_]*(?:"
    r"the (?:documents?|texts?|passages?|facts?|context) (?:do(?:es)?|did) ?(?:not|n['’]t) \w+\b.*"
    r"|(?:sorry, )?(?:i|we) (?:do not|don['’]t|can ?not|can['’]t) (?:know|say|tell|answer)\b.*"
    r"|(?:it is |this is |is )?(?:unknown|unclear|not (?:found|known|stated|mentioned|given|sure|"
    r"specified|available|provided))(?: in the (?:documents?|texts?|passages?|facts|context))?"
    r"|(?:no|insufficient) (?:answer|information)(?: (?:was |is )?(?:found|available|given))?"
    r"|(?:it |this )?can ?not be (?:determined|answered|known)\b.*|n/a"
    r")[\W_]*",
    re.IGNORECASE | re.DOTALL,
)

_LABEL = r"(?:final\s+)?(?:answer|output)\s*"
_PREFIX = re.compile(rf"(\*+){_LABEL}(?:[:：]\s*\1|\1\s*[:：])\s*|{_LABEL}[:：]\s*", re.IGNORECASE)
_PAIRS = {
    **{"“": "”", "‘": "’", "«": "»", "„": "“", "»": "«", "「": "」", "『": "』"},
    # Of models that were trained on mathematics.
    **{"\\boxed{\\text{": "}}", "\\boxed{": "}"},
}
_AROUND = ('"', "'", "`", "***", "**", "*", *_PAIRS)


def clean_answer(text: str) -> str:
    """Take the answer out of a model's reply."""
    said = _inner(spoken(UNSTORABLE.sub("", text)).strip())
    prefix = _PREFIX.match(said)
    return _inner(said[prefix.end() :].strip()) if prefix else said


def _inner(text: str) -> str:
    """Take away what is around the whole."""
    for opening in _AROUND:
        closing = _PAIRS.get(opening, opening)
        inner = text.removeprefix(opening).removesuffix(closing)
        enclosed = len(inner) == len(text) - len(opening) - len(closing)
        if enclosed and opening[0] not in inner and closing[0] not in inner:
            return inner.strip()
    for mark in ("***", "**", "`"):  # Its other half stood before a label, or after numbers.
        rest = text.removeprefix(mark).removesuffix(mark).strip()
        if rest and text.count(mark) == 1 and rest != text:
            return _inner(rest)
    return text


def says_unknown(answer: str) -> bool:
    """Tell whether an answer is that the answer is not known."""
    return _UNKNOWN.fullmatch(answer) is not None
