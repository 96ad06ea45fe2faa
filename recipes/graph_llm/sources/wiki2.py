"""2WikiMultihopQA: evidence triples are the gold graph; each (subject, relation) is a step.

A step's question is the human one where the file has a decomposition, else a wording of the
relation. A step whose subject is what an earlier step finds depends on that step, and names the
subject as the earlier triple does, since extractors are told to use full names. Where the page of a
subject is known (``docs`` of the file, or a corpus given beside it), its other triples surround the
gold one. Questions whose evidence does not start at something they name are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ras_flow.datasets.contexts import documents, support
from ras_flow.datasets.reading import Row
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.triples import Spo
from recipes.graph_llm.case import Case, Page, Step, short_name
from recipes.graph_llm.relations import ask
from recipes.graph_llm.sources.texts import Texts, mentions, storable


def read(rows: Iterable[Row], texts: Texts) -> Iterator[Case]:
    """Yield a case for each question whose evidence can be followed."""
    for row in rows:
        question = row.text("question")
        titles = list(support(row)) if row.has("support") or row.has("supporting_facts") else []
        triples = storable(row.triples("triples" if row.has("triples") else "evidences"))
        asked = [step.text("q") for step in row.rows("decomp")] if row.has("decomp") else []
        given = documents(row) if row.has("docs") or row.has("context") else []
        pages = {title: texts.page(title, sentences) for title, sentences in given}
        facts = _linked(question, triples, titles)
        if not facts:
            continue
        steps = _steps(facts, asked if len(asked) == len(facts) else [], titles, pages, texts)
        answer = row.text("answer")
        yield Case(
            source="2wiki",
            id=row.first_text("id", "_id"),
            question=question,
            answer=answer,
            steps=steps,
            context=tuple(page for title, page in pages.items() if title not in titles),
        )


def _linked(question: str, triples: list[Spo], titles: list[str]) -> list[Spo]:
    """Give each subject the name under which it is known; empty if one comes from nowhere."""
    linked: list[Spo] = []
    for at, (subject, predicate, object) in enumerate(triples):
        parent = next((t[2] for t in linked if _same(t[2], subject)), None)
        if parent is None and not mentions(question, subject):
            title = titles[at] if at < len(titles) else ""
            parent = next((t[2] for t in linked if title and _same(t[2], title)), None)
            if parent is None and not (title and mentions(question, title)):
                return []
            parent = parent or title
        linked.append((parent or subject, predicate, object))
    return linked


def _same(a: str, b: str) -> bool:
    """Tell whether two names are one: equal, or one has all words of the other."""
    words, others = (set(normalize_name(name.partition(" (")[0]).split()) for name in (a, b))
    return bool(words) and bool(others) and (words <= others or others <= words)


def _steps(
    facts: list[Spo],
    asked: list[str],
    titles: list[str],
    pages: dict[str, Page],
    texts: Texts,
) -> tuple[Step, ...]:
    groups: dict[tuple[str, str], list[int]] = {}
    for at, (subject, predicate, _) in enumerate(facts):
        groups.setdefault((subject, predicate), []).append(at)
    steps: list[Step] = []
    for (subject, predicate), members in groups.items():
        own = tuple(facts[at] for at in members)
        title = next((t for t in titles if _same(t, subject)), subject)
        page = pages.get(title) or texts.about(title)
        human = [asked[members[0]]] if asked else []
        needs = tuple(
            number
            for number, step in enumerate(steps)
            if any(normalize_name(fact[2]) == normalize_name(subject) for fact in step.facts)
        )
        phrasings = tuple(dict.fromkeys([*human, *ask(predicate, subject)]))
        short = tuple((short_name(s), p, o) for s, p, o in own)
        whole = Page(title, (*own, *page.triples), page.text)
        steps.append(Step(phrasings, own, whole, needs, short=short))
    return tuple(steps)
