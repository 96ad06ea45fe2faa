"""MuSiQue: each step of the human decomposition, with the answers of earlier ones filled in.

The gold triple of a step is the one of its paragraph that links the answer with most words of the
question. Without one, or without a paragraph, it is made of question and answer: "UHF >>
distributed by" with "Orion Pictures" is a triple as it stands. A question without answer
(``answerable`` false) has a step that no paragraph supports: it is never sufficient.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ras_flow.datasets.contexts import paragraph_of_step, paragraphs, title_of_step
from ras_flow.datasets.reading import Row
from ras_flow.datasets.wording import fill, references
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.triples import Spo
from recipes.graph_llm.case import Case, Page, Step, short_name
from recipes.graph_llm.sentences import split_sentences
from recipes.graph_llm.sources.texts import Texts, shared_words, telling
from recipes.graph_llm.wording import as_question, fact_of, shorthand


def read(rows: Iterable[Row], texts: Texts) -> Iterator[Case]:
    """Yield a case for each question all of whose steps have a gold triple."""
    for row in rows:
        given = paragraphs(row)
        pages = [texts.page(title, split_sentences(text)) for title, text in given]
        parts = row.rows("decomp" if row.has("decomp") else "question_decomposition")
        results = {at: part.first_text("a", "answer") for at, part in enumerate(parts)}
        steps = [_step(part, at, results, pages, row) for at, part in enumerate(parts)]
        whole = [step for step in steps if step is not None]
        if not whole or len(whole) < len(steps):
            continue
        used = {step.page.title for step in whole}
        yield Case(
            source="musique",
            id=row.text("id"),
            question=row.text("question"),
            answer=row.text("answer"),
            steps=tuple(whole),
            context=tuple(page for page in pages if page.title not in used),
        )


def _step(part: Row, at: int, results: dict[int, str], pages: list[Page], row: Row) -> Step | None:
    raw = part.first_text("q", "question")
    needs = tuple(sorted(number for number in references(raw) if 0 <= number < at))
    text = fill(raw, {number: results[number] for number in needs})
    answer = results[at]
    position = paragraph_of_step(part)
    own = pages[position : position + 1] if position is not None and position >= 0 else []
    page = own[0] if own else Page(title_of_step(part), ())
    entities = [results[number] for number in needs] + [page.title, page.title.partition(" (")[0]]
    made = fact_of(text, answer, entities)
    phrasings = made[1] if made else (as_question(text),)
    if pages and not own:
        answerable = not row.has("answerable") or row.flag("answerable")
        return None if answerable else Step(phrasings, (), page, needs, missing=True)
    fact = _found(page, text, answer) or (made[0] if made else None)
    if fact is None or not all(map(normalize_name, fact)):
        return None
    short = made[0] if made else (short_name(page.title), "", answer)
    whole = Page(page.title, (*page.triples, fact), page.text)
    return Step(phrasings, (fact,), whole, needs, short=(short,) if short[0] else ())


def _found(page: Page, question: str, answer: str) -> Spo | None:
    """Return the triple that links the answer with most words of the question."""
    asked = " ".join(shorthand(question) or (question,))

    def shared(triple: Spo) -> int:
        return shared_words(triple, answer, asked)

    best = max(telling(page, answer), key=shared, default=None)
    return best if best is not None and shared(best) >= 2 else None
