"""Measures of short answers: match, exact match, token F1 (appendix E.2).

Exact match and F1 are those of the official scripts of SQuAD 1.1 and HotpotQA, to the last digit.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterable

_ARTICLE = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_VERDICTS = frozenset({"yes", "no", "noanswer"})


def normalize_answer(text: str) -> str:
    """Return the form in which answers are compared: the one of SQuAD, not that of our entities."""
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def contains(text: str, answer: str) -> bool:
    """Tell whether a text has an answer in it (eq. 9), letter by letter after normalisation.

    An answer of which normalisation leaves nothing would be in every text. It counts as contained
    where it stands as it is, in either case of letters, between other words.
    """
    if wanted := normalize_answer(answer):
        return wanted in normalize_answer(text)
    bare = " ".join(answer.lower().split())
    return bool(bare) and f" {bare} " in f" {' '.join(text.lower().split())} "


def match(prediction: str, answers: Iterable[str]) -> float:
    """Return 1 if any gold answer is in the prediction, else 0 ("golden match", eq. 9)."""
    return float(any(contains(prediction, answer) for answer in answers))


def exact_match(prediction: str, answers: Iterable[str]) -> float:
    """Return 1 if the prediction is a gold answer after normalisation, else 0."""
    said = normalize_answer(prediction)
    return float(any(said == normalize_answer(answer) for answer in answers))


def f1(prediction: str, answers: Iterable[str]) -> float:
    """Return the best token F1 with a gold answer, as SQuAD 1.1 defines it (eq. 10 to 12)."""
    said = normalize_answer(prediction).split()
    return max((_f1(said, normalize_answer(answer).split()) for answer in answers), default=0.0)


def hotpotqa_f1(prediction: str, answers: Iterable[str]) -> float:
    """Return the best token F1 as HotpotQA defines it: verdicts are right or wrong as a whole."""
    said = normalize_answer(prediction)
    best = 0.0
    for answer in answers:
        wanted = normalize_answer(answer)
        if said == wanted or _VERDICTS.isdisjoint((said, wanted)):
            best = max(best, _f1(said.split(), wanted.split()))
    return best


def _f1(said: list[str], wanted: list[str]) -> float:
    shared = (Counter(said) & Counter(wanted)).total()
    if not shared:
        return 0.0
    precision, recall = shared / len(said), shared / len(wanted)
    return (2 * precision * recall) / (precision + recall)
