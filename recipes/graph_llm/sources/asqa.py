"""ASQA: ambiguous questions with long answers, mixed in as in the paper (static inference).

The documents come with the question, so nothing is planned: one hop with the triples of the
annotators' passages, and the long answer. Questions without passages are answered from nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ras_flow.datasets.reading import Row
from ras_flow.settings.tasks import TASKS
from recipes.graph_llm.case import Case, Page, Step
from recipes.graph_llm.sentences import split_sentences
from recipes.graph_llm.sources.texts import Texts

MAX_FACTS = 30


def read(rows: Iterable[Row], texts: Texts) -> Iterator[Case]:
    """Yield a case for each question that is annotated."""
    for row in rows:
        yield from _case(row, texts)


def _case(row: Row, texts: Texts) -> Iterator[Case]:
    question = row.text("ambiguous_question")
    for note in row.rows("annotations")[:1]:
        known = note.rows("knowledge") if note.has("knowledge") else []
        pages = [
            texts.page(
                item.text("wikipage") if item.has("wikipage") else "",
                split_sentences(item.text("content")),
            )
            for item in known
        ]
        facts = tuple(dict.fromkeys(t for page in pages for t in page.triples))[:MAX_FACTS]
        text = " ".join(page.text for page in pages)
        steps = (Step((), facts, Page(question, facts, text)),) if facts else ()
        yield Case(
            source="asqa",
            id=row.text("sample_id"),
            question=question,
            answer=note.text("long_answer"),
            steps=steps,
            instruction=TASKS["ambiguous_qa"].instruction,
            static=True,
        )
