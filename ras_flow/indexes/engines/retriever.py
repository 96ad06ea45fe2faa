"""Eq. 3 with a vector database, and how an index's passages get there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ras_flow.errors import ConfigurationError, IndexMismatchError, RasFlowError
from ras_flow.indexes.contents import IndexProgress, OnProgress
from ras_flow.indexes.dense import encode_checked
from ras_flow.indexes.engines.config import EngineConfig, read_engine
from ras_flow.indexes.engines.stores import Store, open_store
from ras_flow.indexes.hybrid import HybridRetriever
from ras_flow.indexes.index import CorpusIndex
from ras_flow.indexes.langchain import search_all
from ras_flow.indexes.queries import check_queries
from ras_flow.llms.sentence_encoder import same_encoder
from ras_flow.parts.protocols import Retriever, SentenceEncoder
from ras_flow.parts.records import ScoredPassage
from ras_flow.settings.context import RetrieverKind

if TYPE_CHECKING:
    from langchain_core.documents import Document

_PUSH_AT_ONCE = 256


class EngineRetriever:
    """Passages of a vector database whose vectors are nearest to the query's."""

    def __init__(self, store: Store, encoder: SentenceEncoder, *, identity: str) -> None:
        self.identity = f"{identity}({encoder.identity})"
        self._store = store
        self._encoder = encoder

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        """Return at most k passages for each query, best first."""
        check_queries(queries, k)
        if not queries:
            return []
        vectors = await encode_checked(self._encoder, queries)

        async def search(at: int) -> list[tuple[Document, float]]:
            found = await asyncio.to_thread(self._store.search, vectors[at].tolist(), k)
            for document, _ in found:
                made_by = document.metadata.get("encoder", self._encoder.identity)
                if not same_encoder(made_by, self._encoder.identity):
                    raise IndexMismatchError(
                        f"{self.identity} was filled with vectors of {made_by!r}: name this "
                        "encoder, or fill it again."
                    )
            return found

        return await search_all(self.identity, queries, k, search)


def open_engine(path: str | Path, kind: RetrieverKind, encoder: SentenceEncoder) -> Retriever:
    """Open a vector database for retrieval."""
    config = read_engine(path)
    if kind not in ("dense", "hybrid"):
        raise ConfigurationError(
            f"{path} names a vector database: set the retriever to dense or hybrid, not {kind!r}, "
            "or give the folder of an index for BM25."
        )
    dense = EngineRetriever(open_store(config), encoder, identity=config.identity)
    if kind == "dense" or not config.bm25:
        return dense
    return HybridRetriever(CorpusIndex.open(config.bm25).retriever("bm25"), dense)


async def push(
    index: CorpusIndex,
    config: EngineConfig,
    *,
    replace: bool = False,
    progress: OnProgress | None = None,
) -> None:
    """Copy an index's passages and vectors to a vector database; nothing is embedded again.

    The collection is filled step by step: push to a new one and name it in the file afterwards
    where runs must not see it half full.
    """
    made_by, vectors = index.manifest.encoder, index.vectors
    if made_by is None or vectors is None:
        raise ConfigurationError(
            f"The index at {index.path} has no vectors: build it with an encoder."
        )
    store = await asyncio.to_thread(open_store, config)
    try:
        await asyncio.to_thread(store.create, made_by.dimension, replace=replace)
        for start in range(0, len(index), _PUSH_AT_ONCE):
            end = min(start + _PUSH_AT_ONCE, len(index))
            some = await asyncio.to_thread(index.passages.__getitem__, slice(start, end))
            values = (await asyncio.to_thread(vectors.take, np.arange(start, end))).tolist()
            await asyncio.to_thread(store.add, some, values, made_by.identity)
            if progress:
                progress(IndexProgress("write", end, len(index)))
        await asyncio.to_thread(store.finish, len(index))
    except store.failures as error:
        if isinstance(error, RasFlowError):
            raise
        raise RasFlowError(
            f"{config.identity} could not be filled ({type(error).__name__}: {error}). Check the "
            "address and that the server runs; then push again with --replace."
        ) from error
    finally:
        await asyncio.to_thread(store.close)
