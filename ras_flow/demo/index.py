"""The demo corpus's index, made in the cache on first use."""

from __future__ import annotations

import asyncio
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from ras_flow.components import SentenceEncoder
from ras_flow.demo import passages
from ras_flow.errors import IndexMismatchError, IndexMissingError
from ras_flow.retrieval.index import CorpusIndex, Report
from ras_flow.retrieval.source import SourceDocument
from ras_flow.retrieval.sync import cached_index_path


async def demo_index(encoder: SentenceEncoder | None, progress: Report | None = None) -> Path:
    """Return the folder of the demo index.

    Args:
        encoder: Makes the vectors; None for BM25 alone.
        progress: Called while the index is made.

    Returns:
        The folder; the index in it is of this version's corpus.

    Raises:
        CorpusIndexError: The cached index is damaged, or another process is making it.
    """
    corpus = files("ras_flow.demo").joinpath("passages.jsonl").read_bytes()
    name = f"demo:{sha256(corpus).hexdigest()}"
    path = await asyncio.to_thread(cached_index_path, name, encoder)
    try:
        await asyncio.to_thread(CorpusIndex.open, path, encoder=encoder)
    except (IndexMissingError, IndexMismatchError):
        documents = (
            SourceDocument(f"demo/{document['title']}", document["title"], document["text"])
            for document in passages()
        )
        await CorpusIndex.build(path, documents, encoder=encoder, progress=progress)
    return path
