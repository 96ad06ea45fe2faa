"""From a path to a retriever in one call."""

from __future__ import annotations

from pathlib import Path

from ras_flow.components import Retriever, SentenceEncoder
from ras_flow.context import RetrieverKind
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.retrieval.engines.config import is_engine
from ras_flow.retrieval.index import CorpusIndex


def open_retriever(
    path: str | Path, kind: RetrieverKind = "hybrid", encoder: SentenceEncoder | None = None
) -> Retriever:
    """Open an index for retrieval (eq. 3); call it in a thread from async code.

    Args:
        path: The index folder, or the TOML file that names a vector database.
        kind: ``"bm25"``, ``"dense"`` or ``"hybrid"``.
        encoder: The encoder that the index was built with; MiniLM if not given. Not used for
            BM25.

    Returns:
        The retriever.

    Raises:
        IndexMissingError: There is no index.
        IndexCorruptError: A file is missing, truncated or altered.
        IndexMismatchError: The index has another format, was built with another encoder, or BM25
            is asked for and another version tokenized its passages differently.
        ConfigurationError: The kind is unknown, the index has no vectors for it, or the file is
            wrong.
        MissingExtraError: FAISS, or the database's package, is not installed.
    """
    if is_engine(path):
        from ras_flow.retrieval.engines.retriever import open_engine  # noqa: PLC0415

        return open_engine(path, kind, encoder or LocalSentenceEncoder())
    if kind == "bm25":
        return CorpusIndex.open(path).retriever(kind)
    return CorpusIndex.open(path, encoder=encoder or LocalSentenceEncoder()).retriever(kind)
