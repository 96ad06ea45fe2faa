"""From a path to a retriever in one call."""

from __future__ import annotations

from pathlib import Path

from ras_flow.components import Retriever, SentenceEncoder
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.retrieval.index import CorpusIndex, RetrieverKind


def open_retriever(
    path: str | Path, kind: RetrieverKind = "hybrid", encoder: SentenceEncoder | None = None
) -> Retriever:
    """Open an index for retrieval (eq. 3); call it in a thread from async code.

    Args:
        path: The index folder.
        kind: ``"bm25"``, ``"dense"`` or ``"hybrid"``.
        encoder: The encoder that the index was built with; MiniLM if not given. Not used for
            BM25.

    Returns:
        The retriever.

    Raises:
        IndexMissingError: There is no index.
        IndexCorruptError: A file is missing, truncated or altered.
        IndexMismatchError: The index has another format or was built with another encoder.
        ConfigurationError: The kind is unknown or the index has no vectors for it.
        MissingExtraError: FAISS is not installed.
    """
    if kind == "bm25":
        return CorpusIndex.open(path).retriever(kind)
    return CorpusIndex.open(path, encoder=encoder or LocalSentenceEncoder()).retriever(kind)
