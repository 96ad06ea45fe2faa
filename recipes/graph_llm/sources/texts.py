"""Texts to pages: a better extraction where one is at hand, rules otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ras_flow.datasets.reading import read_rows
from ras_flow.errors import InputError
from ras_flow.formats.normalize import has_name, normalize_name
from ras_flow.formats.text import scrub
from ras_flow.formats.triples import Spo
from recipes.graph_llm.case import Page, words_of
from recipes.graph_llm.sentences import sentence_triples, split_sentences

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
        """Return what an extractor makes of a passage."""
        sentences = list(sentences)
        text = " ".join(" ".join(sentences).split())
        known = self.triples.get(text)
        if known:
            return Page(title, known, text)
        found = [t for sentence in sentences for t in sentence_triples(title, sentence)]
        return Page(title, tuple(dict.fromkeys(found)), text)

    def about(self, title: str) -> Page:
        """Return the page with a title; one without triples for an unknown title."""
        return self.titled.get(normalize_name(title)) or Page(title, ())


def read_pages(path: Path, only: Iterable[str] = ()) -> Iterator[Page]:
    """Read passages: objects with ``text`` and ``triples``, or with ``title`` and ``text``."""
    wanted, sources = set(only), set()
    texts = Texts()
    for row in read_rows(path):
        source = str(row.value.get("src", ""))
        sources.add(source)
        if wanted and source not in wanted:
            continue
        if row.has("text", "triples"):
            triples = tuple(storable(row.triples("triples")))
            title = row.text("title") if row.has("title") else ""
            if triples:
                yield Page(title, triples, " ".join(row.text("text").split()))
        elif row.has("title", "text"):
            yield texts.page(row.text("title"), split_sentences(row.text("text")))
        else:
            raise InputError(
                f"{row.where}: passages are objects with `text` and `triples`, or with `title` "
                f"and `text`; this one has {', '.join(sorted(row.value))}."
            )
    if missing := wanted - sources:
        raise InputError(
            f"{path} has no passage whose `src` is {', '.join(map(repr, sorted(missing)))}, as "
            f"`only` asks for. There are {', '.join(map(repr, sorted(sources)[:10]))}."
        )


def storable(triples: Iterable[Spo]) -> list[Spo]:
    """Return triples as records can hold them, each half of a character replaced."""
    return [(scrub(s), scrub(p), scrub(o)) for s, p, o in triples]


def mentions(text: str, name: str) -> bool:
    """Tell whether a text names something, as whole words.

    A "(1915 film)" behind the name may differ, and it may be a possessive ("Hugo's father").
    """
    bare = normalize_name(name.partition(" (")[0])
    said = f"{normalize_name(text)} | {normalize_name(_POSSESSIVE.sub('', text))}"
    return bool(bare) and f" {bare} " in f" {said} "


def telling(page: Page, answer: str) -> list[Spo]:
    """Return the triples of a page that hold an answer in subject or object."""
    return [
        triple
        for triple in page.triples
        if has_name(triple[0], answer) or has_name(triple[2], answer)
    ]


def shared_words(triple: Spo, answer: str, asked: str) -> int:
    """Return how many words of more than three letters a triple shares with a question."""
    rest = words_of(triple) - set(normalize_name(answer).split())
    return sum(len(word) > 3 for word in rest & set(normalize_name(asked).split()))
