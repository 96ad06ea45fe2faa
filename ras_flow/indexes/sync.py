"""An index kept in step with a set of documents, made or updated as needed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path

from ras_flow.documents.source import SourceDocument
from ras_flow.errors import IndexCorruptError, IndexMismatchError, IndexMissingError
from ras_flow.indexes.contents import IndexProgress, OnProgress
from ras_flow.indexes.index import CorpusIndex
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.support.paths import cache_folder

_READ_AT_ONCE = 64


def cached_index_path(name: str, encoder: SentenceEncoder | None) -> Path:
    """Return where the cache keeps the index of something, apart for each encoder."""
    key = f"{name}\0{encoder.identity if encoder else ''}"
    return cache_folder() / "indexes" / sha256(os.fsencode(key)).hexdigest()[:16]


async def sync_index(
    path: Path,
    documents: Iterable[SourceDocument],
    encoder: SentenceEncoder | None,
    progress: OnProgress | None = None,
) -> CorpusIndex:
    """Make an index hold exactly these documents; unchanged ones are not embedded again.

    An index that holds them already is only read, so that many processes can do this at once; one
    that another version tokenized differently is renewed.
    """
    index: CorpusIndex | None = None
    with suppress(IndexMissingError, IndexMismatchError, IndexCorruptError):
        index = await asyncio.to_thread(CorpusIndex.open, path, encoder=encoder)
    if index is None or (index.vectors is None) != (encoder is None):
        return await CorpusIndex.build(path, documents, encoder=encoder, progress=progress)
    held = await index.sources()
    given: set[str] = set()
    changed: list[SourceDocument] = []
    rest = iter(documents)
    while some := await asyncio.to_thread(lambda: list(islice(rest, _READ_AT_ONCE))):
        given.update(document.source for document in some)
        changed += [
            document for document in some if held.get(document.source) != document.content_hash
        ]
        if progress:
            progress(IndexProgress("read", len(given)))
    gone = sorted(held.keys() - given)
    if not changed and not gone and index.is_current:
        return index
    # Another process may have removed them while the documents were read.
    return await index.update(changed, remove=gone, missing_ok=True, progress=progress)
