from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore, VectorStore

from ras_flow.errors import RasFlowError
from ras_flow.indexes import LangChainRetriever
from ras_flow.indexes.hybrid import HybridRetriever
from tests.indexes.helpers import WordEncoder


class WordEmbeddings(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return asyncio.run(WordEncoder().encode(texts)).tolist()

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    async def aembed_query(self, text: str) -> list[float]:
        return (await WordEncoder().encode([text]))[0].tolist()


class Fixed(BaseRetriever):
    documents: list[Document]

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        if query == "fail":
            raise KeyError("no such collection")
        return self.documents


@pytest.fixture
def store() -> InMemoryVectorStore:
    store = InMemoryVectorStore(WordEmbeddings())
    store.add_documents(
        [
            Document("Textile mills of the city.", metadata={"title": "Łódź", "source": "l.txt"}),
            Document("She wrote programs.", metadata={"title": "Ada"}),
            Document("Radioactivity in Paris."),
            *(Document(f"Filler number {n}.") for n in range(20)),
        ]
    )
    return store


async def test_a_vector_store_is_searched(store: InMemoryVectorStore) -> None:
    [[first, *rest]] = await LangChainRetriever(store).retrieve(["textile mills"], 3)
    assert first.passage["title"] == "Łódź"
    assert first.passage["text"] == "Textile mills of the city."
    assert first.passage["source"] == "l.txt"
    assert len(rest) == 2 and all(first.score >= other.score for other in rest)
    narrow = LangChainRetriever(store.as_retriever(search_kwargs={"k": 2}))
    assert len((await narrow.retrieve(["filler number"], 9))[0]) == 9, "k reaches the store"


async def test_a_store_that_scores_by_distance_gets_higher_is_better() -> None:
    class Distances(InMemoryVectorStore):
        async def asimilarity_search_with_score(
            self, query: str, k: int = 4, **kwargs: Any
        ) -> list[tuple[Document, float]]:
            return [(Document(f"d{n}"), 0.1 * n) for n in range(k)]

    [found] = await LangChainRetriever(Distances(WordEmbeddings())).retrieve(["q"], 3)
    assert [p["text"] for p, _ in found] == ["d0", "d1", "d2"]
    assert [score for _, score in found] == pytest.approx([0, -0.1, -0.2])


async def test_a_store_without_scores_is_searched_too() -> None:
    class Bare(VectorStore):
        def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
            return [Document(f"{query} {n}") for n in range(k)]

        @classmethod
        def from_texts(cls, *args: Any, **kwargs: Any) -> Bare:
            return cls()

    [found] = await LangChainRetriever(Bare()).retrieve(["q"], 2)
    assert [(p["text"], score) for p, score in found] == [("q 0", 1), ("q 1", 1)]


async def test_a_custom_retriever_keeps_its_order_and_k_cuts() -> None:
    texts = ["c", " ", "c", "a", "b"]  # Blank and repeated ones are left out.
    retriever = LangChainRetriever(Fixed(documents=[Document(text) for text in texts]))
    for k in (2, 5):
        [found] = await retriever.retrieve(["q"], k)
        assert [passage["text"] for passage, _ in found] == ["c", "a", "b"][:k]
        assert [score for _, score in found] == [1, 1, 1][:k]


def test_one_retriever_serves_several_event_loops(store: InMemoryVectorStore) -> None:
    retriever = LangChainRetriever(store)
    for _ in range(2):
        found = asyncio.run(retriever.retrieve([f"number {n}" for n in range(20)], 1))
        texts = [ranking[0].passage["text"] for ranking in found]
        assert texts == [f"Filler number {n}." for n in range(20)], "in the queries' order"


@pytest.mark.parametrize("joined", [True, False])
async def test_a_search_that_fails_is_named_and_ends_those_beside_it(joined: bool) -> None:
    given_up = 0

    class Slow(InMemoryVectorStore):
        async def asimilarity_search_with_score(self, query: str, *args: Any, **kw: Any) -> Any:
            nonlocal given_up
            if query == "fail here":
                raise KeyError("no such collection")
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                given_up += 1
                raise

    slow = LangChainRetriever(Slow(WordEmbeddings()))
    hybrid = HybridRetriever(slow, LangChainRetriever(Fixed(documents=[])))
    with pytest.raises(RasFlowError, match="failed on the query 'fail") as caught:
        await (hybrid.retrieve(["fail"], 1) if joined else slow.retrieve(["q", "fail here"], 1))
    assert isinstance(caught.value.__cause__, KeyError) and given_up == 1
