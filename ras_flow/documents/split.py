"""Documents to passages of about 100 words, each of one section."""

from __future__ import annotations

from collections.abc import Iterator

from ras_flow.documents.blocks import plain_blocks
from ras_flow.documents.packing import packed
from ras_flow.documents.sections import sections
from ras_flow.documents.source import SourceDocument
from ras_flow.documents.words import count_words
from ras_flow.formats.headings import heading_path
from ras_flow.formats.sentences import sentence_spans
from ras_flow.state.schema import Passage, make_passage

MAX_WORDS = 100


def split_text(text: str, max_words: int = MAX_WORDS) -> list[str]:
    """Split a plain text into passages, at the ends of paragraphs, list items and sentences.

    A text of up to ``max_words`` is one passage. Of a longer one, whole paragraphs and items are
    packed until the next would exceed ``max_words``. One that is longer itself is cut between
    sentences, and a sentence between words. Two characters count as a word in scripts written
    without spaces (Chinese, Japanese, Thai) and in runs of more than 24 characters, which are cut
    between characters where they must be. A short rest joins the passage before it.
    """
    if len(text.strip().splitlines()) == 1 and count_words(text) <= max_words:
        return [" ".join(text.split())]  # To find its sentences would take most of a build's time.
    return [piece.text for piece in packed(plain_blocks(text), max_words)]


def split_document(document: SourceDocument, max_words: int = MAX_WORDS) -> list[Passage]:
    """Split a document into passages, titled by its title and the headings above them.

    A passage is of one section; neighbouring sections of a few words each are one. The fragment
    that leads to its place in the document is added to its source.
    """
    passages: dict[str, Passage] = {}

    def add(path: tuple[str, ...], text: str, anchor: str = "") -> None:
        passage = make_passage(heading_path([document.title, *path]), text)
        if document.source:
            passage["source"] = f"{document.source}#{anchor}" if anchor else document.source
        passages.setdefault(passage["id"], passage)

    for section in sections(document.title, document.blocks, max_words):
        for one in packed(section.blocks, max_words):
            add(section.path, one.text, one.anchor or section.anchor)
    if not passages:  # Plain text, or nothing but its title.
        for text in split_text(document.text, max_words):
            add((), text)
    return list(passages.values())


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, with single spaces between words."""
    for block in plain_blocks(text):
        words = " ".join(block.text.split())
        for start, end in sentence_spans(words):
            yield words[start:end]
