from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ras_flow.documents import SourceDocument
from ras_flow.errors import ConfigurationError, InputError
from ras_flow.indexes import (
    BM25Retriever,
    CorpusIndex,
    DenseRetriever,
    HybridRetriever,
    RetrieverKind,
)
from ras_flow.indexes.bm25 import build_bm25
from ras_flow.indexes.vectors import Shard, VectorIndex
from ras_flow.parts import Retriever
from ras_flow.state.schema import Passage
from tests.indexes.helpers import DOCUMENTS, WordEncoder, titles

KINDS: list[RetrieverKind] = ["bm25", "dense", "hybrid"]


@pytest.fixture
async def index(tmp_path: Path) -> CorpusIndex:
    return await CorpusIndex.build(tmp_path / "index", DOCUMENTS, encoder=WordEncoder())


@pytest.mark.parametrize("kind", KINDS)
async def test_words_of_text_and_title_are_found(index: CorpusIndex, kind: RetrieverKind) -> None:
    retriever = index.retriever(kind)
    assert (await titles(retriever, "textile mills"))[0] == "Łódź"
    assert (await titles(retriever, "Lovelace"))[0] == "Ada Lovelace"


@pytest.mark.parametrize(
    "query, title",
    [
        ("首都", "東京"),
        ("łódź", "Łódź"),
        ("Lodz", "Łódź"),
        ("KÖNIGREICH", "Gauß"),
        ("gauss", "Gauß"),
    ],
)
async def test_bm25_finds_passages_that_are_not_ascii(
    index: CorpusIndex, query: str, title: str
) -> None:
    assert await titles(index.retriever("bm25"), query) == [title]


async def test_bm25_finds_korean_words_whatever_their_endings() -> None:
    texts = ["서울은 대한민국의 수도이다.", "부산은 바다에 있는 도시이다."]
    retriever = BM25Retriever.from_documents([{"title": text[:2], "text": text} for text in texts])
    assert (await titles(retriever, "서울의 인구는?"))[0] == "서울"
    assert (await titles(retriever, "바다가 있는 곳은?"))[0] == "부산"


@pytest.mark.parametrize("kind", KINDS)
async def test_a_batch_gives_what_single_queries_give(
    index: CorpusIndex, kind: RetrieverKind
) -> None:
    retriever = index.retriever(kind)
    queries = ["textile mills", "first program", "radioactivity in Paris"]
    batch = await retriever.retrieve(queries, 3)
    assert [[p["id"] for p, _ in found] for found in batch] == [
        [p["id"] for p, _ in (await retriever.retrieve([query], 3))[0]] for query in queries
    ]


@pytest.mark.parametrize("kind", KINDS)
async def test_scores_fall_passages_are_whole_and_none_appears_twice(
    index: CorpusIndex, kind: RetrieverKind
) -> None:
    [found] = await index.retriever(kind).retrieve(["she wrote in Paris"], 100)
    scores = [score for _, score in found]
    assert scores == sorted(scores, reverse=True)
    assert len({passage["id"] for passage, _ in found}) == len(found) <= len(DOCUMENTS)
    texts = {document.source: document.text for document in DOCUMENTS}
    for passage, _ in found:
        assert "".join(passage["text"].split()) == "".join(texts[passage["source"]].split())


@pytest.mark.parametrize("kind", KINDS)
async def test_k_limits_and_may_exceed_the_corpus(index: CorpusIndex, kind: RetrieverKind) -> None:
    retriever = index.retriever(kind)
    assert len((await retriever.retrieve(["she"], 1))[0]) == 1
    assert 2 <= len((await retriever.retrieve(["she"], 10_000))[0]) <= len(index)


@pytest.mark.parametrize("kind", KINDS)
async def test_no_queries_no_results_and_bad_queries_are_refused(
    index: CorpusIndex, kind: RetrieverKind
) -> None:
    retriever = index.retriever(kind)
    assert await retriever.retrieve([], 5) == []
    with pytest.raises(InputError, match="Query 1 is empty"):
        await retriever.retrieve(["fine", " \n"], 5)
    with pytest.raises(InputError, match="k is 0"):
        await retriever.retrieve(["fine"], 0)
    with pytest.raises(InputError, match=r"\[query\]"):
        await retriever.retrieve("fine", 5)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_empty_index_finds_nothing(tmp_path: Path, kind: RetrieverKind) -> None:
    index = await CorpusIndex.build(tmp_path, [], encoder=WordEncoder())
    assert await index.retriever(kind).retrieve(["anything", "else"], 5) == [[], []]


async def test_bm25_finds_nothing_where_no_word_matches(index: CorpusIndex) -> None:
    assert await titles(index.retriever("bm25"), "xylophone ?!") == []


async def test_question_words_find_nothing_beside_other_words() -> None:
    pages = {
        "Riddles": "What has hands? Who has none? When, where, which, how?",
        "Markelo": "A village of Overijssel.",
        "The Who": "A band of London.",
    }
    retriever = BM25Retriever.from_documents(
        [{"title": title, "text": text} for title, text in pages.items()]
    )
    assert await titles(retriever, "What, where and when was Markelo?") == ["Markelo"]
    assert await titles(retriever, "Who are The Who?") == ["The Who"]
    assert await titles(retriever, "What?") == ["Riddles"]


async def test_passages_without_any_word_can_be_indexed(tmp_path: Path) -> None:
    documents = [SourceDocument("a", "", "!!! ???")]
    index = await CorpusIndex.build(tmp_path, documents, encoder=None)
    assert await index.retriever("bm25").retrieve(["!!!", "word"], 5) == [[], []]


async def test_equal_scores_keep_corpus_order() -> None:
    documents = [{"title": f"T{n}", "text": "same words here"} for n in range(50)]
    retriever = BM25Retriever.from_documents(documents)
    assert await titles(retriever, "same words", 7) == [f"T{n}" for n in range(7)]


async def test_dense_scores_are_cosines_and_equal_ones_keep_corpus_order(tmp_path: Path) -> None:
    documents = [SourceDocument(f"{n}", "", "word " + "," * n) for n in range(5)]
    index = await CorpusIndex.build(tmp_path, documents, encoder=WordEncoder())
    [found] = await index.retriever("dense").retrieve(["word"], 5)
    assert [passage["source"] for passage, _ in found] == list("01234")
    assert [score for _, score in found] == pytest.approx([1.0] * 5, abs=1e-5)


async def test_in_memory_bm25_needs_no_title_and_splits_long_texts() -> None:
    text = "Filler words come first here. " * 60 + "The needle is at the end."
    retriever = BM25Retriever.from_documents([{"text": text}, {"title": "B", "text": "Other."}])
    [found] = await retriever.retrieve(["needle"], 5)
    assert len(found) == 1
    assert len(found[0].passage["text"].split()) <= 125


def test_identity_tells_corpora_apart() -> None:
    one = BM25Retriever.from_documents([{"text": "a b c"}])
    same = BM25Retriever.from_documents([{"text": "a b c"}])
    other = BM25Retriever.from_documents([{"text": "a b d"}])
    assert one.identity == same.identity != other.identity


async def test_fusion_prefers_what_both_find(index: CorpusIndex) -> None:
    def fixed(*order: int) -> Retriever:
        class Fixed:
            identity = "fixed"

            async def retrieve(self, queries: Sequence[str], k: int):  # type: ignore[no-untyped-def]
                from ras_flow.parts import ScoredPassage

                ranking = [ScoredPassage(index.passages[at], 1.0) for at in order]
                return [ranking[:k] for _ in queries]

        return Fixed()

    [found] = await HybridRetriever([fixed(0, 1, 2), fixed(3, 1)]).retrieve(["q"], 4)
    assert found[0].passage == index.passages[1]
    assert found[0].score == pytest.approx(2 / 62)
    assert {p["id"] for p, _ in found[1:3]} == {index.passages[n]["id"] for n in (0, 3)}
    assert [score for _, score in found[1:]] == pytest.approx([1 / 61, 1 / 61, 1 / 63])


def test_fusion_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="at least one"):
        HybridRetriever([])


@pytest.mark.parametrize("shape, value, message", [((1, 3), 1, "shape"), ((1, 2048), 5, "length")])
async def test_vectors_of_a_wrong_encoder_are_refused(
    index: CorpusIndex, shape: tuple[int, int], value: float, message: str
) -> None:
    class Wrong(WordEncoder):
        async def encode(self, texts):  # type: ignore[no-untyped-def]
            return np.full(shape, value, dtype=np.float32)

    vectors = await WordEncoder().encode(["a"] * len(index))
    whole = VectorIndex([Shard(0, vectors)])
    retriever = DenseRetriever(index.passages, whole, Wrong(), identity="x")
    with pytest.raises(ConfigurationError, match=message):
        await retriever.retrieve(["q"], 1)


async def test_searching_does_not_block_the_event_loop() -> None:
    turned = threading.Event()

    class Held(list[Passage]):
        def __getitem__(self, at: Any) -> Any:
            assert turned.wait(20), "the event loop stood still for as long as a search took"
            return super().__getitem__(at)

    passages = Held([Passage(id="a", title="", text="common words")])
    retriever = BM25Retriever(passages, build_bm25(passages), identity="held")
    search = asyncio.create_task(retriever.retrieve(["common words"], 5))
    while not search.done():
        await asyncio.sleep(0.01)
        turned.set()
    assert [[found.passage["id"] for found in one] for one in await search] == [["a"]]
