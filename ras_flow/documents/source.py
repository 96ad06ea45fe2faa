"""A document as it enters an index."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from ras_flow.formats.text import scrub


@dataclass(frozen=True)
class SourceDocument:
    """A document before it is split into passages.

    Attributes:
        source: Names the document within an index (a path, an address); unique there.
        title: Its title, possibly empty, in one line; goes, up to 300 characters, into each of its
            passages.
        text: Its text; a blank line ends a paragraph, a single line break does not.
        gap: Says what a reader sees of it and the text has not; empty for nothing.
    """

    source: str
    title: str
    text: str
    gap: str = ""

    def __post_init__(self) -> None:
        for name in ("source", "title", "text"):
            object.__setattr__(self, name, scrub(getattr(self, name)))
        object.__setattr__(self, "title", " ".join(self.title.split()))

    @property
    def content_hash(self) -> str:
        """SHA-256 of title and text: tells whether a document changed."""
        return sha256(f"{self.title}\0{self.text}".encode()).hexdigest()
