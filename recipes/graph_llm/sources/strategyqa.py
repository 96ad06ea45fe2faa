"""StrategyQA: yes/no questions whose facts are sentences, with a human decomposition.

Which fact answers which step is not said; each fact goes to the step that shares most of its words.
A last step that only compares ("Is #2 greater than #1?") is reasoning, not retrieval. Answers to
single steps are not given either, so a step that names an earlier result cannot be worded: then
all facts are one step, found by the question itself, and no subquery is learnt. The
answerer gets the instruction of the task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ras_flow.datasets.reading import Row
from ras_flow.datasets.wording import references
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.triples import Spo
from ras_flow.settings.tasks import TASKS
from recipes.graph_llm.case import Case, Page, Step
from recipes.graph_llm.sources.texts import Texts, mentions
from recipes.graph_llm.wording import about, as_question


def read(rows: Iterable[Row], texts: Texts) -> Iterator[Case]:
    """Yield a case for each question all of whose facts became triples."""
    for row in rows:
        facts = row.texts("facts")
        term = row.text("term") if row.has("term") else ""
        made = [texts.page("", [fact]).triples for fact in facts]
        if not facts or not all(made):
            continue
        steps = _aligned(row.texts("decomposition"), facts, made)
        if not steps:
            own = tuple(dict.fromkeys(fact for found in made for fact in found))
            phrasings = (about(term),) if term and mentions(row.text("question"), term) else ()
            steps = [Step(phrasings, own, Page(term, own))]
        yield Case(
            source="strategyqa",
            id=row.first_text("qid", "id"),
            question=row.text("question"),
            answer="yes" if row.flag("answer") else "no",
            steps=tuple(steps),
            instruction=TASKS["yes_no"].instruction,
        )


def _aligned(decomposition: list[str], facts: list[str], made: list[tuple[Spo, ...]]) -> list[Step]:
    """Give each fact to a step; empty where a step would have none or cannot be worded."""
    searches = [step for step in decomposition if not references(step)]
    others = [step for step in decomposition if references(step)]
    if len(others) > 1 or (others and decomposition[-1] not in others) or len(searches) < 2:
        return []
    words = [_words(step) for step in searches]
    given: list[list[Spo]] = [[] for _ in searches]
    for fact, triples in zip(facts, made, strict=True):
        shares = [len(_words(fact) & asked) for asked in words]
        if max(shares) < 1:
            return []
        given[shares.index(max(shares))].extend(triples)
    if not all(given):
        return []
    return [
        Step((as_question(step),), tuple(dict.fromkeys(found)), Page("", tuple(found)))
        for step, found in zip(searches, given, strict=True)
    ]


def _words(text: str) -> set[str]:
    return {word for word in normalize_name(text).split() if len(word) > 3 or word.isdecimal()}
