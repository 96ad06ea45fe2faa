"""Questions that what is searched does not answer: a file's own, and those made so."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from hashlib import sha256

from ras_flow.errors import ConfigurationError
from ras_flow.evaluation.question import Question
from ras_flow.state.schema import Document

Questions = tuple[Question, ...]
Pool = tuple[Document, ...]


def set_apart(
    questions: Questions, pool: Pool, count: int, seed: int, *, given: bool
) -> tuple[Questions, Questions, Pool]:
    """Return the answerable questions, ``count`` unanswerable ones, and what is searched.

    First come the file's own unanswerable questions; those with documents (MuSiQue) if they are
    asked of these alone, since a pool would hold what their answerable twins rest on. Else the gold
    documents of questions drawn by chance are taken out of the pool, and no other question is asked
    that rests on these.
    """
    known = tuple(one for one in questions if one.answerable)
    if not count:
        return known, (), pool
    own = [one for one in questions if not one.answerable and (given or not one.documents)]
    if given or not pool or len(own) >= count:
        if len(own) < count:
            raise ConfigurationError(
                f"unanswerable = {count}, but the file has {len(own)} questions without an answer: "
                'ask for fewer, or have them made with index = "pool".'
            )
        return known, in_order_by_chance(own, seed)[:count], pool
    sound = [one for one in known if one.support and all(each.title for each in one.support)]
    chosen = in_order_by_chance(sound, seed)[::-1][:count]
    if len(chosen) < count:
        raise ConfigurationError(
            f"unanswerable = {count}, but the file names the gold documents of {len(sound)} "
            "questions: ask for fewer, or for the file's own with retrieval = 'given'."
        )
    out = _titles(chosen)
    return (
        tuple(one for one in known if not out.intersection(_titles([one]))),
        tuple(replace(one, answerable=False, support=()) for one in chosen),
        tuple(document for document in pool if document.get("title", "") not in out),
    )


def in_order_by_chance(questions: Iterable[Question], seed: int) -> Questions:
    """Order questions by chance: the same for a seed, whatever other questions there are."""

    def place(question: Question) -> tuple[str, str]:
        return sha256(f"{seed}\0{question.question}".encode()).hexdigest(), question.id

    return tuple(sorted(questions, key=place))


def _titles(questions: Iterable[Question]) -> set[str]:
    return {each.title for one in questions for each in one.support}
