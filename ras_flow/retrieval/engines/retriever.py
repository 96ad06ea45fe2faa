"""Eq. 3 with a vector database, and how an index's passages get there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ras_flow.components import Retriever, ScoredPassage, SentenceEncoder
from ras_flow.context import RetrieverKind
from ras_flow.errors import ConfigurationError, IndexMismatchError, RasFlowError
from ras_flow.llms.sentence_encoder import same_encoder
from ras_flow.retrieval.contents import IndexProgress, OnProgress
from ras_flow.retrieval.dense import encode_checked
from ras_flow.retrieval.engines.config import EngineConfig, read_engine
from ras_flow.retrieval.engines.stores import Store, open_store
from ras_flow.retrieval.hybrid import HybridRetriever
from ras_flow.retrieval.index import CorpusIndex
from ras_flow.retrieval.langchain import search_all
from ras_flow.retrieval.queries import check_queries

if TYPE_CHECKING:
    from langchain_core.documents import Document

_PUSH_AT_ONCE = 256


class EngineRetriever:
    """Passages of a vector database whose vectors are nearest to the query's.

    Args:
        store: The database, filled by :func:`push`.
        encoder: What made its vectors, for the queries.
        identity: Names the collection.
    """

    def __init__(self, store: Store, encoder: SentenceEncoder, *, identity: str) -> None:
        self.identity = f"{identity}({encoder.identity})"
        self._store = store
        self._encoder = encoder

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        """Return at most k passages for each query, best first.

        Args:
            queries: The queries, none blank.
            k: Passages for each query.

        Returns:
            One list a query; scores are cosines.

        Raises:
            InputError: A query is blank or k is below 1.
            ConfigurationError: The encoder's vectors cannot be used.
            IndexMismatchError: The database was filled with another encoder's vectors.
            RasFlowError: The database failed; chained to what it raised.
        """
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
    """Open a vector database for retrieval.

    Args:
        path: The TOML file that names it.
        kind: ``"dense"``, or ``"hybrid"``, which joins BM25 where the file names an index for it.
        encoder: What made the vectors.

    Returns:
        The retriever.

    Raises:
        IndexMissingError: There is no such file, or no index for BM25.
        ConfigurationError: The file is wrong, the kind is another one, or the database cannot be
            opened.
        MissingExtraError: The database's package is not installed.
    """
    config = read_engine(path)
    if kind not in ("dense", "hybrid"):
        raise ConfigurationError(
            f"{path} names a vector database: set the retriever to dense or hybrid, not {kind!r}, "
            "or give the folder of an index for BM25."
        )
    dense = EngineRetriever(open_store(config), encoder, identity=config.identity)
    if kind == "dense" or not config.bm25:
        return dense
    return HybridRetriever([CorpusIndex.open(config.bm25).retriever("bm25"), dense])


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

    Args:
        index: The index, with vectors.
        config: The database.
        replace: Replace a collection that is there.
        progress: Called on the event loop as work proceeds.

    Raises:
        ConfigurationError: The index has no vectors, the collection is there already, or the
            database cannot be opened.
        MissingExtraError: The database's package is not installed.
        RasFlowError: The database failed; chained to what it raised.
    """
    import numpy as np  # noqa: PLC0415

    made_by, vectors = index.manifest.encoder, index.vectors
    if made_by is None or vectors is None:
        raise ConfigurationError(
            f"The index at {index.path} has no vectors: build it with an encoder."
        )
    store = await asyncio.to_thread(open_store, config)
    try:
        await asyncio.to_thread(store.create, made_by.dimension, replace=replace)
        for start in range(0, len(index), _PUSH_AT_ONCE):
            rows = np.arange(start, min(start + _PUSH_AT_ONCE, len(index)))
            some = await asyncio.to_thread(
                index.passages.__getitem__, slice(start, len(rows) + start)
            )
            values = (await asyncio.to_thread(vectors.take, rows)).tolist()
            await asyncio.to_thread(store.add, some, values, made_by.identity)
            if progress:
                progress(IndexProgress("write", int(rows[-1]) + 1, len(index)))
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
