"""Eq. 3 with a retriever or vector store of the LangChain ecosystem."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ras_flow.errors import ConfigurationError, RasFlowError
from ras_flow.formats.text import scrub
from ras_flow.indexes.queries import check_queries
from ras_flow.parts.records import ScoredPassage
from ras_flow.state.schema import make_passage
from ras_flow.support.concurrency import all_or_none

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.vectorstores import VectorStore

    Found = list[tuple[Document, float]]

AT_ONCE = 8
"""Queries that run at the same time."""


class LangChainRetriever:
    """Adapts a LangChain ``BaseRetriever`` or ``VectorStore``.

    A document's ``title`` and ``source`` metadata become the passage's; its text is kept whole.
    A retriever that is not made from a vector store returns as many documents as it was set up
    for, so set it up for at least ``Context.top_k``. Retrievers and some vector stores give no
    scores: all their documents score 1. Other vector stores score by distance, lower for nearer:
    such scores, known by their rising order, are negated.
    """

    def __init__(self, source: BaseRetriever | VectorStore, *, identity: str | None = None) -> None:
        from langchain_core.retrievers import BaseRetriever  # noqa: PLC0415
        from langchain_core.vectorstores import VectorStore, VectorStoreRetriever  # noqa: PLC0415

        if not isinstance(source, BaseRetriever | VectorStore):
            raise ConfigurationError(
                f"{type(source).__name__} is not a LangChain BaseRetriever or VectorStore: pass "
                "one of these."
            )
        self.identity = identity or f"langchain:{type(source).__name__}"
        self._source = source
        self._takes_k = isinstance(source, VectorStoreRetriever)

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        """Return at most k passages for each query, in the order of the source."""
        check_queries(queries, k)
        return await search_all(self.identity, queries, k, lambda at: self._search(queries[at], k))

    async def _search(self, query: str, k: int) -> Found:
        from langchain_core.vectorstores import VectorStore  # noqa: PLC0415

        if isinstance(self._source, VectorStore):
            with suppress(NotImplementedError):
                return _nearest_high(await self._source.asimilarity_search_with_score(query, k=k))
            documents = await self._source.asimilarity_search(query, k=k)
        else:
            more: dict[str, Any] = {"k": k} if self._takes_k else {}
            documents = await self._source.ainvoke(query, **more)
        return [(document, 1.0) for document in documents]


async def search_all(
    identity: str, queries: Sequence[str], k: int, search: Callable[[int], Awaitable[Found]]
) -> list[list[ScoredPassage]]:
    """Run another library's search for each query, several at a time; if one fails, cancel all."""
    from langgraph.errors import GraphBubbleUp  # noqa: PLC0415

    limit = asyncio.Semaphore(AT_ONCE)

    async def ranked(at: int) -> list[ScoredPassage]:
        try:
            async with limit:
                return _passages(await search(at))[:k]
        except (RasFlowError, GraphBubbleUp):
            raise  # An interrupt, by which a search waits for a person, is not a failure.
        except Exception as error:
            # Other people's code may raise anything; the original error is chained.
            raise RasFlowError(
                f"{identity} failed on the query {queries[at][:80]!r} with "
                f"{type(error).__name__}: {error}. Check that it works on its own."
            ) from error

    return await all_or_none(map(ranked, range(len(queries))))


def _nearest_high(found: Found) -> Found:
    """Negate scores that rise from the best document to the worst: they are distances."""
    if found and found[0][1] < found[-1][1]:
        return [(document, -score) for document, score in found]
    return found


def _passages(found: Found) -> list[ScoredPassage]:
    ranked: dict[str, ScoredPassage] = {}
    for document, score in found:
        text = scrub(document.page_content).strip()
        if not text:
            continue
        passage = make_passage(_label(document, "title"), text)
        if source := _label(document, "source"):
            passage["source"] = source
        ranked.setdefault(passage["id"], ScoredPassage(passage, float(score)))
    return list(ranked.values())


def _label(document: Document, name: str) -> str:
    """Return a document's metadata as text; empty if it is missing or NaN, as in an empty cell."""
    value = document.metadata.get(name)
    missing = not value or value != value  # The latter is NaN, as pandas writes it.
    return "" if missing else scrub(str(value)).strip()
