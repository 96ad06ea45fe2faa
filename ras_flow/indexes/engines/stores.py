"""The two vector databases, through LangChain's integrations of them."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

from ras_flow.errors import ConfigurationError
from ras_flow.indexes.ann import choose
from ras_flow.indexes.engines.config import EngineConfig
from ras_flow.state.schema import Passage
from ras_flow.support.extras import require

if TYPE_CHECKING:
    from langchain_core.documents import Document


HNSW_CANDIDATES = 400
"""Candidates that pgvector's HNSW looks at, hence the most that it returns; its default is 40."""


class QdrantStore:
    """A collection of Qdrant, searched as it decides; its calls block."""

    def __init__(self, config: EngineConfig) -> None:
        self._langchain = require("langchain_qdrant", extra="qdrant")
        client = require("qdrant_client", extra="qdrant")
        self._models: Any = client.models
        exceptions: Any = require("qdrant_client.http.exceptions", extra="qdrant")
        self.failures: tuple[type[Exception], ...] = (
            exceptions.ApiException,
            OSError,
            ValueError,
            RuntimeError,
        )
        self._name = config.collection
        if config.path:
            try:
                self._client = client.QdrantClient(
                    path=config.path, force_disable_check_same_thread=True
                )
            except self.failures as error:
                raise ConfigurationError(
                    f"Qdrant cannot open the folder {config.path} ({error}). Give a folder of its "
                    "own that no other process has open, or a server's url."
                ) from error
            # Left alone, it lets go of the folder too late in Python's shutdown, with a traceback.
            weakref.finalize(self, self._client.close)
        else:
            try:
                self._client = client.QdrantClient(url=config.url, api_key=config.api_key or None)
            except ValueError as error:
                raise _no_address(config, "http://HOST:6333", error) from None

    @cached_property
    def _store(self) -> Any:
        return self._langchain.QdrantVectorStore(
            self._client,
            self._name,
            validate_embeddings=False,
            validate_collection_config=False,
        )

    def create(self, dimension: int, *, replace: bool) -> None:
        """Make the collection; one that is there is replaced, or a ConfigurationError."""
        if self._client.collection_exists(self._name):
            if not replace:
                raise _exists(self._name)
            self._client.delete_collection(self._name)
        size = self._models.VectorParams(size=dimension, distance=self._models.Distance.COSINE)
        self._client.create_collection(self._name, vectors_config=size)

    def add(
        self, passages: Sequence[Passage], vectors: Sequence[list[float]], encoder: str
    ) -> None:
        """Add passages with the vectors that an encoder made."""
        points = [
            self._models.PointStruct(
                id=_key(passage),
                vector=vector,
                payload={"page_content": passage["text"], "metadata": _metadata(passage, encoder)},
            )
            for passage, vector in zip(passages, vectors, strict=True)
        ]
        self._client.upsert(self._name, points)

    def finish(self, passages: int) -> None:
        """Do nothing: Qdrant builds its graph by itself."""

    def search(self, vector: list[float], k: int) -> list[tuple[Document, float]]:
        """Return the k nearest with their scores."""
        found: list[tuple[Document, float]] = self._store.similarity_search_with_score_by_vector(
            vector, k
        )
        return found

    def close(self) -> None:
        """End the connections, and let go of a local folder."""
        self._client.close()


class PgvectorStore:
    """A table of PostgreSQL with pgvector: exact up to 100,000 passages, then through HNSW.

    Its calls block.
    """

    def __init__(self, config: EngineConfig) -> None:
        self._langchain = require("langchain_postgres", extra="pgvector")
        self._v2: Any = require("langchain_postgres.v2.indexes", extra="pgvector")
        sqlalchemy = require("sqlalchemy", extra="pgvector")
        self.failures: tuple[type[Exception], ...] = (
            sqlalchemy.exc.SQLAlchemyError,
            OSError,
            ValueError,
        )
        try:
            url = sqlalchemy.make_url(config.url)
            # A server that was restarted leaves connections that are dead: ask before each use.
            self._engine = self._langchain.PGEngine.from_connection_string(
                url.set(drivername="postgresql+psycopg"), pool_pre_ping=True
            )
        except self.failures as error:
            raise _no_address(config, "postgresql://USER:PASSWORD@HOST/NAME", error) from None
        self._name = config.collection

    @cached_property
    def _store(self) -> Any:
        core = require("langchain_core.embeddings", extra="pgvector")
        return self._langchain.PGVectorStore.create_sync(
            self._engine,
            core.FakeEmbeddings(size=1),
            self._name,
            index_query_options=self._v2.HNSWQueryOptions(ef_search=HNSW_CANDIDATES),
        )

    def create(self, dimension: int, *, replace: bool) -> None:
        """Make the table; one that is there is replaced, or a ConfigurationError."""
        try:
            self._engine.init_vectorstore_table(self._name, dimension, overwrite_existing=replace)
        except self.failures as error:
            if "already exists" not in str(error):
                raise
            raise _exists(self._name) from error

    def add(
        self, passages: Sequence[Passage], vectors: Sequence[list[float]], encoder: str
    ) -> None:
        """Add passages with the vectors that an encoder made."""
        self._store.add_embeddings(
            texts=[passage["text"] for passage in passages],
            embeddings=list(vectors),
            metadatas=[_metadata(passage, encoder) for passage in passages],
            ids=[_key(passage) for passage in passages],
        )

    def finish(self, passages: int) -> None:
        """Build a graph where there are many."""
        if choose("auto", passages, 1) != "flat":
            self._store.apply_vector_index(self._v2.HNSWIndex())

    def search(self, vector: list[float], k: int) -> list[tuple[Document, float]]:
        """Return the k nearest with their scores."""
        found: list[tuple[Document, float]] = self._store.similarity_search_with_score_by_vector(
            vector, k
        )
        # Cosine distances: what is nearer is less.
        return [(document, 1 - distance) for document, distance in found]

    def close(self) -> None:
        """End the connections."""
        asyncio.run(self._engine.close())


Store = QdrantStore | PgvectorStore


def open_store(config: EngineConfig) -> Store:
    """Open a vector database."""
    return QdrantStore(config) if config.engine == "qdrant" else PgvectorStore(config)


def _key(passage: Passage) -> str:
    return str(uuid5(NAMESPACE_URL, passage["id"]))


def _metadata(passage: Passage, encoder: str) -> dict[str, str]:
    return {"title": passage["title"], "source": passage.get("source", ""), "encoder": encoder}


def _no_address(config: EngineConfig, form: str, error: Exception) -> ConfigurationError:
    """Return an error without the original's words, which may include the password."""
    return ConfigurationError(
        f"The url of the {config.engine} collection {config.collection!r} is not an "
        f"address ({type(error).__name__}): write {form}."
    )


def _exists(name: str) -> ConfigurationError:
    return ConfigurationError(
        f"The collection {name!r} exists already: choose another name, or use --replace."
    )
