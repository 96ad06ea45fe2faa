"""Eq. 3: passage indexes and retrievers.

Importing this package loads neither bm25s nor FAISS; names are loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ras_flow.support.lazy import load_on_use

if TYPE_CHECKING:
    from ras_flow.indexes.bm25 import BM25Retriever
    from ras_flow.indexes.contents import IndexProgress
    from ras_flow.indexes.index import CorpusIndex
    from ras_flow.indexes.langchain import LangChainRetriever
    from ras_flow.indexes.opening import open_retriever

_HOMES = {
    "BM25Retriever": "bm25",
    "CorpusIndex": "index",
    "IndexProgress": "contents",
    "LangChainRetriever": "langchain",
    "open_retriever": "opening",
}

__all__ = [
    "BM25Retriever",
    "CorpusIndex",
    "IndexProgress",
    "LangChainRetriever",
    "open_retriever",
]

__getattr__ = load_on_use(__name__, _HOMES)
