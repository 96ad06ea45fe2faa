"""The demo corpus's index, made in the cache on first use and again when it is damaged."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from ras_flow.demo import passages
from ras_flow.documents.source import SourceDocument
from ras_flow.indexes.sync import cached_index_path, sync_index
from ras_flow.parts.protocols import SentenceEncoder


async def demo_index(encoder: SentenceEncoder | None) -> Path:
    """Return the folder of the demo index."""
    corpus = files("ras_flow.demo").joinpath("passages.jsonl").read_bytes()
    name = f"demo:{sha256(corpus).hexdigest()}"
    path = await asyncio.to_thread(cached_index_path, name, encoder)
    documents = (
        SourceDocument(f"demo/{document['title']}", document["title"], document["text"])
        for document in passages()
    )
    await sync_index(path, documents, encoder)
    return path
