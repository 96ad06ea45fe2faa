"""The demo corpus's index, made in the cache on first use and again when it is damaged."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from importlib.resources import as_file, files
from pathlib import Path

from ras_flow.demo import passages
from ras_flow.demo.triples import ShippedTriples, shipped
from ras_flow.documents.reading import read_documents
from ras_flow.documents.source import SourceDocument
from ras_flow.indexes.index import CorpusIndex
from ras_flow.indexes.propositions.update import update_propositions
from ras_flow.indexes.sync import cached_index_path, sync_index
from ras_flow.parts.protocols import SentenceEncoder


def documents() -> Iterator[SourceDocument]:
    """Yield the demo corpus: a document for each passage, and the Markdown files."""
    for passage in passages():
        yield SourceDocument(f"demo/{passage['title']}", passage["title"], passage["text"])
    with as_file(files("ras_flow.demo") / "documents") as folder:
        for document in read_documents(folder):
            yield replace(document, source=f"demo/{Path(document.source).name}")


async def demo_index(encoder: SentenceEncoder | None) -> Path:
    """Return the folder of the demo index."""
    corpus = await asyncio.to_thread(lambda: list(documents()))
    hashes = "".join(document.content_hash for document in corpus)
    name = f"demo:{sha256(hashes.encode()).hexdigest()}"
    path = await asyncio.to_thread(cached_index_path, name, encoder)
    await sync_index(path, corpus, encoder)
    return path


async def demo_propositions(path: Path, extractor: str, encoder: SentenceEncoder) -> None:
    """Index the propositions of the demo index, if they are those that ship with the package."""
    if shipped(extractor):
        corpus = await asyncio.to_thread(CorpusIndex.open, path)
        await update_propositions(corpus, extractor, ShippedTriples(extractor), encoder)
