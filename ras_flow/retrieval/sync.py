"""An index kept in step with a set of documents, made or updated as needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from ras_flow.components import SentenceEncoder
from ras_flow.errors import IndexMismatchError, IndexMissingError
from ras_flow.paths import cache_folder
from ras_flow.retrieval.index import CorpusIndex, Report
from ras_flow.retrieval.source import SourceDocument


def cached_index_path(name: str, encoder: SentenceEncoder | None) -> Path:
    """Return where the cache keeps the index of something, apart for each encoder.

    Args:
        name: What is indexed: a folder's path, or a hash of the content.
        encoder: The index's encoder, if any.

    Returns:
        A folder in the cache, which may not exist yet.
    """
    key = f"{name}\0{encoder.identity if encoder else ''}"
    return cache_folder() / "indexes" / sha256(key.encode()).hexdigest()[:16]


async def sync_index(
    path: Path,
    documents: Iterable[SourceDocument],
    encoder: SentenceEncoder | None,
    progress: Report | None = None,
) -> CorpusIndex:
    """Make an index hold exactly these documents; unchanged ones are not embedded again.

    Args:
        path: The index folder, which need not exist. An index of another format or encoder is
            replaced.
        documents: All that the index is to hold.
        encoder: Makes the vectors; None for BM25 alone.
        progress: Called as work proceeds.

    Returns:
        The index, opened.

    Raises:
        DocumentError: A document cannot be read.
        CorpusIndexError: The index is damaged or being written by another process.
    """
    try:
        index = CorpusIndex.open(path, encoder=encoder)
    except (IndexMissingError, IndexMismatchError):
        return await CorpusIndex.build(path, documents, encoder=encoder, progress=progress)
    given: set[str] = set()

    def noted() -> Iterator[SourceDocument]:
        for document in documents:
            given.add(document.source)
            yield document

    index = await index.update(noted(), progress=progress)
    gone = (await index.sources()).keys() - given
    return await index.update(remove=sorted(gone), progress=progress) if gone else index
