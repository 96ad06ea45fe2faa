"""HotpotQA contexts without a model: supporting documents are steps, the others distractors.

The gold triples of a step are those of its supporting sentences. Its subquery is a human QDMR step
where the file has one; for a document whose title the question names, it follows from what is
compared ("same nationality" asks for the nationality), else it asks for the document's subject; so
does that of a document which the other one leads to (:func:`_bridge`). No other subquery can be
written without a model: such steps are found by the question or not at all, and where they are not,
there is no record. A document that is not there (``all_support`` false) makes a question that is
never sufficient. Better subqueries come from :mod:`ras_flow.training.data.subq`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ras_flow.datasets.contexts import documents, support
from ras_flow.datasets.reading import Row
from ras_flow.datasets.wording import fill, references
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.triples import Spo
from recipes.graph_llm.case import Case, Page, Step, short_name
from recipes.graph_llm.relations import ask
from recipes.graph_llm.sources.texts import Texts, mentions, telling
from recipes.graph_llm.wording import about, as_question

_COMPARED = [
    (r"\b(same|what|which) (nationality|nationalities)|\bnationality\b", "nationality"),
    (r"\b(born|older|younger|oldest|youngest)\b", "date of birth"),
    (r"\b(died|lived longer)\b", "date of death"),
    (r"\b(released|came out|come out|newer film|came to market)\b", "publication date"),
    (r"\b(founded|formed|established|started|opened|created) (first|earlier|later)", "inception"),
    (r"\b(located|same country|same state|same city)\b", "location"),
    (r"\b(director|directors|directed)\b", "director"),
    (r"\b(occupation|profession|both \w+ ?(directors|actors|writers|authors))\b", "occupation"),
]


def read(rows: Iterable[Row], texts: Texts) -> Iterator[Case]:
    """Yield a case for each question whose answer its supporting sentences hold."""
    for row in rows:
        question, answer = row.text("question"), row.text("answer")
        given = dict(documents(row))
        # What the question names comes first: it is what Q finds.
        gold = dict(sorted(support(row).items(), key=lambda item: not mentions(question, item[0])))
        bridge = _bridge({title: _said(given, title, gold[title]) for title in gold}, answer)
        pages = {title: texts.page(title, sentences) for title, sentences in given.items()}
        verdict = answer.lower() in ("yes", "no")
        comparison = (row.value.get("qtype") or row.value.get("type")) == "comparison"
        human = _human(row, question, list(gold), given)
        steps = []
        for title, sentences in gold.items():
            phrasings = human.get(title, ())
            named = mentions(question, title)
            if named or title in list(bridge)[1:]:
                phrasings += _phrasings(question, title, comparison)
            needs = (0,) if phrasings and not named else ()
            step = _step(title, sentences, given, pages, texts)
            short = (bridge[title],) if title in bridge else ()
            steps.append(replace(step, phrasings=phrasings, needs=needs, short=short))
        missing = any(step.missing for step in steps)
        told = any(telling(Page("", step.facts), answer) for step in steps)
        if any(not step.facts and not step.missing for step in steps):
            continue
        if not (missing or verdict or told):
            continue
        yield Case(
            source="hotpotqa",
            id=row.first_text("id", "_id"),
            question=question,
            answer=answer,
            steps=tuple(steps),
            context=tuple(page for title, page in pages.items() if title not in gold),
        )


def _step(
    title: str,
    sentences: list[int],
    given: dict[str, list[str]],
    pages: dict[str, Page],
    texts: Texts,
) -> Step:
    if title not in given:
        return Step((), (), Page(title, ()), missing=True)
    said = _said(given, title, sentences)
    facts = [fact for sentence in said for fact in texts.page(title, [sentence]).triples]
    page = pages[title]
    whole = Page(title, (*page.triples, *facts), page.text)
    return Step((), tuple(dict.fromkeys(facts)), whole)


def _said(given: dict[str, list[str]], title: str, sentences: list[int]) -> list[str]:
    """Return the supporting sentences of a document; none where it is not there."""
    return [given[title][at] for at in sentences if title in given and 0 <= at < len(given[title])]


def _bridge(said: dict[str, list[str]], answer: str) -> dict[str, Spo]:
    """Return what the two documents of a chain tell, in order; empty for other questions.

    A chain is where the first one's sentences name the second, whose sentences alone hold the
    answer. So the facts are known but for the relations: the first has to do with the second, and
    the second with the answer. Verdicts are held by no sentence.
    """
    if len(said) != 2 or answer.lower() in ("yes", "no"):
        return {}
    (first, leading), (second, ending) = said.items()
    if not mentions(" ".join(leading), second) or mentions(" ".join(leading), answer):
        return {}
    if not mentions(" ".join(ending), answer):
        return {}
    name = short_name(second)
    return {first: (short_name(first), "", name), second: (name, "", answer)}


def _phrasings(question: str, title: str, comparison: bool) -> tuple[str, ...]:
    name = title.partition(" (")[0]
    if comparison:
        for pattern, relation in _COMPARED:
            if re.search(pattern, question, re.I):
                return ask(relation, name)
    return (about(name),)


def _human(
    row: Row, question: str, gold: list[str], given: dict[str, list[str]]
) -> dict[str, tuple[str, ...]]:
    """Give QDMR steps to the documents that answer them, where that is certain.

    A step that names a document's title belongs to it. In a chain of two, the second step belongs
    to the document whose title the question does not name, if the first document names it: that
    title is what "#1" stands for.
    """
    steps = row.texts("qdmr") if row.has("qdmr") else []
    found: dict[str, tuple[str, ...]] = {}
    for step in steps:
        titles = [title for title in gold if mentions(step, title)]
        if len(titles) == 1 and not references(step) and titles[0] not in found:
            found[titles[0]] = (as_question(step),)
    named = [title for title in gold if mentions(question, title)]
    hidden = [title for title in gold if title not in named]
    if len(steps) == 2 and len(named) == 1 and len(hidden) == 1 and references(steps[1]) == {0}:
        [bridge] = hidden
        filled = fill(steps[1], {0: bridge.partition(" (")[0]})
        answers = normalize_name(row.text("answer")) == normalize_name(bridge)
        if mentions(" ".join(given.get(named[0], [])), bridge) and not answers:
            found[bridge] = (as_question(filled),)
    return found
