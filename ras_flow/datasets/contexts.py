"""Documents and supporting sentences of HotpotQA's and 2WikiMultihopQA's rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ras_flow.datasets.reading import Row
from ras_flow.state.schema import Document


def documents(row: Row) -> list[tuple[str, list[str]]]:
    """Return the titled documents of a HotpotQA or 2Wiki row: its own form, or ours (``docs``).

    Raises:
        InputError: They have another form.
    """
    if row.has("docs"):
        return [(doc.text("title"), doc.texts("sents")) for doc in row.rows("docs")]
    found = []
    for at, (title, sentences) in enumerate(row.pairs("context")):
        if not isinstance(sentences, list) or not all(isinstance(s, str) for s in sentences):
            row.fail(f"context[{at}][1]", "expected a list of sentences")
        found.append((title, [str(sentence).strip() for sentence in sentences]))
    return found


def support(row: Row) -> dict[str, list[int]]:
    """Return the supporting sentences by title, in the order of the row."""
    found: dict[str, list[int]] = {}
    for title, at in row.pairs("support" if row.has("support") else "supporting_facts"):
        found.setdefault(title, []).append(at if isinstance(at, int) else 0)
    return found


def said(sentences: Sequence[str], numbers: Iterable[int]) -> list[str]:
    """Return the supporting sentences of a document; a blank one where none of them is there."""
    there = [sentences[number] for number in numbers if 0 <= number < len(sentences)]
    return there or [""]


def as_documents(given: Iterable[tuple[str, Sequence[str]]]) -> tuple[Document, ...]:
    """Return titles with sentences as documents; those without any text are left out."""
    texts = [(title, " ".join(sentences).strip()) for title, sentences in given]
    return tuple({"title": title, "text": text} for title, text in texts if text)
