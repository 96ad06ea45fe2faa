"""Measures of sets of answers: Macro-F1, Micro-F1, Hit, Hit@1, as SubgraphRAG publishes them.

An answer is right that *contains* a gold one, after SQuAD's normalisation; to questions about times
and places also one that a gold answer contains. Each answer is right for one gold answer at most;
long ones are compared first. ``strict_f1`` takes equal ones alone.

Gold answers are groups of names, any of which is right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ras_flow.evaluation.metrics.short_answers import contains, normalize_answer
from ras_flow.evaluation.question import Question
from ras_flow.formats.chains import read_answers

Groups = Sequence[Sequence[str]]
Same = Callable[[str, str], bool]

_LOOSE = (
    "when",
    "what year",
    "which year",
    "where",
    "sport",
    "what countr",
    "language",
    "nba finals",
    "world series",
)
"""Words of questions whose answers may also be a part of a gold answer."""


def listed_answers(text: str) -> list[str]:
    """Return the answers that a text lists, each once: its ``ans:`` lines, else all its lines."""
    named = read_answers(text)
    lines = text.splitlines() if named is None else named
    return list(dict.fromkeys(line.strip() for line in lines if line.strip()))


def gold_groups(question: Question) -> Groups:
    """Return a question's gold answers, the longest first; alternatives are one answer."""
    groups = dict.fromkeys(question.answer_sets or (question.answers,))
    ordered = sorted(groups, key=lambda group: -len(group[0]))
    asked = question.question.lower()
    if "when" in asked or "what year" in asked:
        return [tuple(map(_year, group)) for group in ordered]
    return ordered


def matched(said: Sequence[str], gold: Groups, same: Same) -> int:
    """Return how many gold answers are among those said, each of which counts once."""
    left = sorted(said, key=len, reverse=True)
    count = 0
    for group in gold:
        found = next((one for one in left if any(same(one, name) for name in group)), None)
        if found is not None:
            left.remove(found)
            count += 1
    return count


def set_f1(text: str, question: Question) -> float:
    """Return the F1 of the answers that a text lists; its mean is Macro-F1."""
    return _f1(*_counts(text, question, _same_for(question)))


def strict_f1(text: str, question: Question) -> float:
    """Return the F1 of the answers that a text lists where only equal ones are right."""
    return _f1(*_counts(text, question, _equal))


def hit(text: str, question: Question) -> float:
    """Return 1 if any answer is right; without ``ans:`` lines, if the text has a gold answer."""
    said = [*listed_answers(text), *([text] if read_answers(text) is None else [])]
    return float(_any(said, question))


def hit_at_1(text: str, question: Question) -> float:
    """Return 1 if the first answer is right."""
    return float(_any(listed_answers(text)[:1], question))


def micro_f1(texts: Sequence[str], questions: Sequence[Question]) -> float:
    """Return the F1 of all answers to all questions together."""
    counts = [
        _counts(text, question, _same_for(question))
        for text, question in zip(texts, questions, strict=True)
    ]
    return _f1(*map(sum, zip(*counts, strict=True))) if counts else 0.0


def _counts(text: str, question: Question, same: Same) -> tuple[int, int, int]:
    said, gold = listed_answers(text), gold_groups(question)
    return matched(said, gold, same), len(said), len(gold)


def _f1(right: int, said: int, wanted: int) -> float:
    return 2 * right / (said + wanted) if right else 0.0


def _any(said: Sequence[str], question: Question) -> bool:
    same = _same_for(question)
    return any(same(one, name) for one in said for group in gold_groups(question) for name in group)


def _equal(said: str, name: str) -> bool:
    return normalize_answer(said) == normalize_answer(name)


def _same_for(question: Question) -> Same:
    if any(word in question.question.lower() for word in _LOOSE):
        return lambda said, name: contains(said, name) or contains(name, said)
    return contains


def _year(name: str) -> str:
    """Return the year of a date such as 1990-03-29; other names stay as they are."""
    year, dash, _ = name.partition("-")
    return year if dash and year.isdigit() else name
