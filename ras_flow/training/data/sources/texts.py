"""Texts to pages: a better extraction where one is at hand, rules otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ras_flow.errors import InputError
from ras_flow.formats.normalize import normalize_name
from ras_flow.training.data.case import Page, Spo
from ras_flow.training.data.sentences import sentence_triples, split_sentences
from ras_flow.training.data.sources.reading import Row, read_rows

_POSSESSIVE = re.compile(r"['’]s\b|(?<=s)['’](?=\s)", re.I)


@dataclass(frozen=True)
class Texts:
    """Extractions of known texts, and texts of known titles.

    Attributes:
        triples: Triples by text (single spaces).
        titled: Pages by normalised title.
    """

    triples: Mapping[str, tuple[Spo, ...]] = field(default_factory=dict)
    titled: Mapping[str, Page] = field(default_factory=dict)

    def page(self, title: str, sentences: Iterable[str]) -> Page:
        """Return what an extractor makes of a passage.

        Args:
            title: The passage's title, possibly empty.
            sentences: Its sentences, in order.
        """
        sentences = list(sentences)
        known = self.triples.get(" ".join(" ".join(sentences).split()))
        if known:
            return Page(title, known)
        found = [t for sentence in sentences for t in sentence_triples(title, sentence)]
        return Page(title, tuple(dict.fromkeys(found)))

    def about(self, title: str) -> tuple[Spo, ...]:
        """Return the triples of the page with a title; none for an unknown title."""
        page = self.titled.get(normalize_name(title))
        return page.triples if page else ()


def read_pages(path: Path, only: Iterable[str] = ()) -> Iterator[tuple[str, Page]]:
    """Read passages: objects with ``text`` and ``triples``, or with ``title`` and ``text``.

    Args:
        path: The file.
        only: Values of ``src`` to read; all if empty.

    Yields:
        Each text and its page.

    Raises:
        InputError: The file is something else.
    """
    wanted = set(only)
    texts = Texts()
    for row in read_rows(path):
        if wanted and row.value.get("src") not in wanted:
            continue
        if row.has("text", "triples"):
            triples = tuple(row.triples("triples"))
            title = row.text("title") if row.has("title") else ""
            if triples:
                yield " ".join(row.text("text").split()), Page(title, triples)
        elif row.has("title", "text"):
            text = row.text("text")
            yield " ".join(text.split()), texts.page(row.text("title"), split_sentences(text))
        else:
            raise InputError(
                f"{row.where}: passages are objects with `text` and `triples`, or with `title` "
                f"and `text`; this one has {', '.join(sorted(row.value))}."
            )


def mentions(text: str, name: str) -> bool:
    """Tell whether a text names something, as whole words.

    A "(1915 film)" behind the name may differ, and it may be a possessive ("Hugo's father").
    """
    bare = normalize_name(name.partition(" (")[0])
    said = f"{normalize_name(text)} | {normalize_name(_POSSESSIVE.sub('', text))}"
    return bool(bare) and f" {bare} " in f" {said} "


def telling(page: Page, answer: str) -> list[Spo]:
    """Return the triples of a page that hold an answer in subject or object."""
    wanted = f" {normalize_name(answer)} "
    return [
        triple
        for triple in page.triples
        if any(wanted in f" {normalize_name(part)} " for part in (triple[0], triple[2]))
    ]


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
