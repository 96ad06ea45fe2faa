"""A document as it enters an index."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import sha256

from ras_flow.documents.blocks import Block, as_text
from ras_flow.formats.text import scrub

SPLITTING = 2
"""Version of how texts of more than one line, and blocks, become passages. Raise it when that
changes: updates of an index then split such documents again."""


@dataclass(frozen=True)
class SourceDocument:
    """A document before it is split into passages.

    Attributes:
        source: Names the document within an index (a path, an address); unique there.
        title: Its title, possibly empty, in one line; goes, up to 300 characters, into each of its
            passages.
        text: Its text: plain, whose blank lines end paragraphs; or that of its blocks.
        gap: Says what a reader sees of it and the text has not; empty for nothing.
        blocks: Its headings, paragraphs, lists, tables and code; empty for plain text.
    """

    source: str
    title: str
    text: str = ""
    gap: str = ""
    blocks: tuple[Block, ...] = ()

    def __post_init__(self) -> None:
        blocks = (
            replace(one, text=scrub(one.text), lead=tuple(map(scrub, one.lead)))
            for one in self.blocks
        )
        object.__setattr__(self, "blocks", tuple(blocks))
        object.__setattr__(self, "source", scrub(self.source))
        object.__setattr__(self, "title", " ".join(scrub(self.title).split()))
        object.__setattr__(self, "text", as_text(self.blocks) if self.blocks else scrub(self.text))

    @property
    def content_hash(self) -> str:
        """SHA-256 that changes when the document does, or what it is split into."""
        content = f"{self.title}\0{self.text}"
        if self.blocks or len(self.text.strip().splitlines()) > 1:
            content += f"\0{SPLITTING}\0{self.blocks!r}"
        return sha256(content.encode()).hexdigest()
