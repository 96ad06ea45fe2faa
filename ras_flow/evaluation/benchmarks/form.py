"""What a benchmark is: how its rows are read, how its questions are asked and judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ras_flow.datasets.reading import Row, read_rows
from ras_flow.evaluation.question import Question, Retrieval
from ras_flow.state.schema import Document

GIVEN = 5
"""Documents of its own that a question starts from (§4.1)."""

SHORT_ANSWER = ("f1", "exact_match", "match")
"""Metrics of short answers that are judged by their words."""


@dataclass(frozen=True)
class Form:
    """A published format.

    Attributes:
        task: Preset of :mod:`ras_flow.settings.tasks`.
        metrics: Metrics of single answers, the main one first.
        read: Turns a row into a question; None for a row that cannot be judged. The question's id
            is empty where the row has none.
        retrieval: Where passages come from. Questions without documents of their own are asked of
            a corpus anyway.
        rows: Yields a file's rows.
        corpus_metrics: Metrics of all answers together.
    """

    task: str
    metrics: tuple[str, ...]
    read: Callable[[Row], Question | None]
    retrieval: Retrieval = "corpus"
    rows: Callable[[Path], Iterator[Row]] = read_rows
    corpus_metrics: tuple[str, ...] = ()


def optional_text(row: Row, *fields: str) -> str:
    """Return the text of the first of the fields that is there and not blank, else nothing."""
    for field in fields:
        value = row.value.get(field)
        if value is not None and (not isinstance(value, str) or value.strip()):
            return row.text(field)
    return ""


def distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts, each once, blank ones left out."""
    return tuple(dict.fromkeys(text for text in texts if text))


def some_texts(row: Row, field: str) -> tuple[str, ...]:
    """Return the distinct texts of a list, which has to have one."""
    found = distinct(row.texts(field))
    if not found:
        row.fail(field, "expected at least one text")
    return found


def given_documents(
    row: Row, field: str, *, title: str = "title", text: str = "text"
) -> tuple[Document, ...]:
    """Return the first :data:`GIVEN` of the documents that come with a question."""
    found: list[Document] = []
    for item in row.rows(field) if row.has(field) else []:
        if said := optional_text(item, text):
            found.append({"title": optional_text(item, title), "text": said})
    return tuple(found[:GIVEN])
