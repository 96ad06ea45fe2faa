"""Eq. 3: documents, indexes and retrievers.

Importing this package loads neither bm25s nor FAISS; names are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ras_flow.context import RetrieverKind
from ras_flow.lazy import load_on_use

if TYPE_CHECKING:
    from ras_flow.retrieval.bm25 import BM25Retriever
    from ras_flow.retrieval.contents import IndexProgress
    from ras_flow.retrieval.dense import DenseRetriever
    from ras_flow.retrieval.documents import ReadReport, read_documents
    from ras_flow.retrieval.hybrid import HybridRetriever
    from ras_flow.retrieval.index import CorpusIndex
    from ras_flow.retrieval.langchain import LangChainRetriever
    from ras_flow.retrieval.opening import open_retriever
    from ras_flow.retrieval.source import SourceDocument
    from ras_flow.retrieval.split import split_text

_HOMES = {
    "BM25Retriever": "bm25",
    "CorpusIndex": "index",
    "DenseRetriever": "dense",
    "HybridRetriever": "hybrid",
    "IndexProgress": "contents",
    "LangChainRetriever": "langchain",
    "ReadReport": "documents",
    "SourceDocument": "source",
    "open_retriever": "opening",
    "read_documents": "documents",
    "split_text": "split",
}

__all__ = [
    "BM25Retriever",
    "CorpusIndex",
    "DenseRetriever",
    "HybridRetriever",
    "IndexProgress",
    "LangChainRetriever",
    "ReadReport",
    "RetrieverKind",
    "SourceDocument",
    "open_retriever",
    "read_documents",
    "split_text",
]

__getattr__ = load_on_use(__name__, _HOMES)
