"""From a path to a retriever in one call."""

from __future__ import annotations

from pathlib import Path

from ras_flow.indexes.engines.config import is_engine
from ras_flow.indexes.index import CorpusIndex
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.parts.protocols import Retriever, SentenceEncoder
from ras_flow.settings.context import RetrieverKind


def open_retriever(
    path: str | Path, kind: RetrieverKind = "hybrid", encoder: SentenceEncoder | None = None
) -> Retriever:
    """Open an index for retrieval (eq. 3); call it in a thread from async code."""
    if is_engine(path):
        from ras_flow.indexes.engines.retriever import open_engine  # noqa: PLC0415

        return open_engine(path, kind, encoder or LocalSentenceEncoder())
    if kind == "bm25":
        return CorpusIndex.open(path).retriever(kind)
    return CorpusIndex.open(path, encoder=encoder or LocalSentenceEncoder()).retriever(kind)
