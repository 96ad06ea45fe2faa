"""QED / Natural Questions: one paragraph, one question, one answer: a single hop.

The gold triples are those of the paragraph that hold the answer; a question whose answer no triple
holds is left out. Where the paragraph was not found, the page's title is asked for, if the question
names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ras_flow.datasets.reading import Row
from ras_flow.datasets.wording import untokenize
from recipes.graph_llm.case import Case, Step
from recipes.graph_llm.sentences import split_sentences
from recipes.graph_llm.sources.texts import Texts, mentions, shared_words, telling
from recipes.graph_llm.wording import about, as_question


def read(rows: Iterable[Row], texts: Texts) -> Iterator[Case]:
    """Yield a case for each question with a triple that holds its only answer."""
    for row in rows:
        answers = row.texts("answers")
        title = row.text("title")
        if not isinstance(row.value["paragraph"], str):
            row.fail("paragraph", "expected a text")
        page = texts.page(title, split_sentences(untokenize(row.text("paragraph"))))
        answer = untokenize(answers[0]) if len(answers) == 1 else ""
        raw = row.text("question")
        facts = [t for t in telling(page, answer) if shared_words(t, answer, raw) >= 2]
        if not facts:
            continue
        question = as_question(raw)
        phrasings = (question, about(title)) if mentions(raw, title) else (question,)
        step = Step(phrasings, (facts[0],), page)
        yield Case("qed", row.text("id"), question, answer, (step,))
