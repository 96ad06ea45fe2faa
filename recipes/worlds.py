"""Invented worlds: a few documents, and questions on them as people ask, one world a line.

A line has ``docs`` (``title`` and ``text``) and ``questions`` with ``answer`` (empty where the
documents have none), ``kind``, and the numbers of the ``docs`` that the answer rests on.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ras_flow.datasets.reading import read_rows
from recipes.graph_llm.case import Case, Page, Step

SOURCE = "invented"
UNANSWERED = "the documents do not say"
"""What stands for the answer to a question that has none."""


def read_worlds(path: Path) -> Iterator[Case]:
    """Yield the questions; each has its world's documents as its context."""
    for number, row in enumerate(read_rows(path)):
        pages = tuple(Page(doc.text("title"), (), doc.text("text")) for doc in row.rows("docs"))
        for at, asked in enumerate(row.rows("questions")):
            steps = tuple(Step((), (), pages[doc]) for doc in asked.value["docs"])
            said = asked.value["answer"] or UNANSWERED
            id = f"{path.name.partition('.')[0]}-{number}-{at}"
            yield Case(SOURCE, id, asked.text("question"), said, steps, context=pages)
