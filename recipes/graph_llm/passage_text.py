"""A page as plain text, for training without text-to-triples (table 2, "No Text-to-Triple")."""

from __future__ import annotations

from collections.abc import Collection

from ras_flow.formats.normalize import normalize_name
from recipes.graph_llm.case import Page
from recipes.graph_llm.sentences import split_sentences


def passage_text(page: Page, hidden: Collection[frozenset[str]]) -> str:
    """Return what a passage says, without what the run may not see yet."""
    sentences = split_sentences(page.text) or [" ".join(triple) + "." for triple in page.triples]
    return " ".join(sentence for sentence in sentences if not _tells(sentence, hidden))


def _tells(sentence: str, hidden: Collection[frozenset[str]]) -> bool:
    words = set(normalize_name(sentence).split())
    return any(fact <= words for fact in hidden)
