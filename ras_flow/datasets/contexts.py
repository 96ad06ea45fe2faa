"""Documents and their support in rows of HotpotQA, 2WikiMultihopQA and MuSiQue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ras_flow.datasets.reading import Row
from ras_flow.formats.normalize import normalize_name
from ras_flow.formats.text import scrub
from ras_flow.state.schema import Document


def documents(row: Row) -> list[tuple[str, list[str]]]:
    """Return the titled documents of a HotpotQA or 2Wiki row: its own form, or ours (``docs``)."""
    if row.has("docs"):
        return [(doc.text("title"), doc.texts("sents")) for doc in row.rows("docs")]
    found = []
    for at, (title, sentences) in enumerate(row.pairs("context")):
        if not isinstance(sentences, list) or not all(isinstance(s, str) for s in sentences):
            row.fail(f"context[{at}][1]", "expected a list of sentences")
        found.append((title, [scrub(sentence.strip()) for sentence in sentences]))
    return found


def support(row: Row) -> dict[str, list[int]]:
    """Return the numbers of the supporting sentences by title; a null is the first."""
    field = "support" if row.has("support") else "supporting_facts"
    found: dict[str, list[int]] = {}
    for at, (title, number) in enumerate(row.pairs(field)):
        if not isinstance(number, int | None):
            row.fail(f"{field}[{at}][1]", "expected the number of a sentence")
        found.setdefault(title, []).append(number or 0)
    return found


def said(sentences: Sequence[str], numbers: Iterable[int]) -> list[str]:
    """Return the supporting sentences of a document; a blank one where none of them is there."""
    there = [sentences[number] for number in numbers if 0 <= number < len(sentences)]
    return there or [""]


def as_documents(given: Iterable[tuple[str, Sequence[str]]]) -> tuple[Document, ...]:
    """Return titles with sentences as documents; those without any text are left out."""
    texts = [(title, " ".join(sentences).strip()) for title, sentences in given]
    return tuple({"title": title, "text": text} for title, text in texts if text)


def paragraphs(row: Row) -> list[tuple[str, str]]:
    """Return titles and texts of a MuSiQue row: its own form, or ours (``docs``)."""
    if row.has("docs"):
        return [(doc.text("title"), doc.text("text")) for doc in row.rows("docs")]
    given = row.rows("paragraphs") if row.has("paragraphs") else []
    return [(each.text("title"), each.text("paragraph_text")) for each in given]


def paragraph_of_step(step: Row) -> int | None:
    """Return the number of the paragraph that supports a MuSiQue step; None where none does."""
    field = "para" if step.has("para") else "paragraph_support_idx"
    number = step.value.get(field)
    if not isinstance(number, int | None):
        step.fail(field, "expected the number of a paragraph, or null")
    return number


def title_of_step(step: Row) -> str:
    """Return the title in the id of a MuSiQue step's document ("New York City_22")."""
    return step.text("doc_id").rpartition("_")[0] if step.has("doc_id") else ""


def gold_titles(row: Row) -> frozenset[str]:
    """Return the normalised titles of the pages that a row names as its question's support."""
    return frozenset(filter(None, map(normalize_name, _gold_titles(row))))


def _gold_titles(row: Row) -> Iterator[str]:
    for field in ("support", "supporting_facts"):
        for item in row.items(field) if row.has(field) else []:
            match item:
                case str(title) | [str(title), *_] | {"title": str(title)}:
                    yield title
    for field in ("decomp", "question_decomposition"):
        for step in row.rows(field) if row.has(field) else []:
            place = paragraph_of_step(step)
            given = [] if place is None or place < 0 else paragraphs(row)[place : place + 1]
            yield given[0][0] if given else title_of_step(step)
    if row.has("decomposition"):
        yield from row.texts("evidence_titles") if row.has("evidence_titles") else []
        yield from titles_of_paragraphs(row.value.get("evidence"))
        yield row.text("term") if row.has("term") else ""
    if row.has("title", "paragraph"):
        yield row.text("title")


def titles_of_paragraphs(ids: Any) -> Iterator[str]:
    """Yield the titles in StrategyQA's paragraph ids ("Genghis Khan-12"), however deep in lists."""
    if isinstance(ids, str) and ids not in ("operation", "no_evidence"):
        yield ids.rpartition("-")[0] or ids
    elif isinstance(ids, list):
        for each in ids:
            yield from titles_of_paragraphs(each)
