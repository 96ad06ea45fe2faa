"""LangChain's document loaders and retrievers, as its community package has them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding

from ras_flow.documents import SourceDocument, from_langchain
from ras_flow.indexes import CorpusIndex, LangChainRetriever
from tests.documents.samples import DATA

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # Upstream ends the package.
    from langchain_community.document_loaders import BSHTMLLoader, CSVLoader, TextLoader
    from langchain_community.retrievers import KNNRetriever, TFIDFRetriever

TEXTS = ["Textile mills of the city.", "She wrote programs.", "Radioactivity in Paris."]


async def found(folder: Path, documents: Iterable[SourceDocument], query: str) -> tuple[str, str]:
    index = await CorpusIndex.build(folder, documents, encoder=None)
    [[(passage, _), *_]] = await index.retriever("bm25").retrieve([query], 1)
    return passage["title"], passage["source"].removeprefix(f"{DATA}/")


async def test_loaders_documents_are_indexed(tmp_path: Path) -> None:
    rows = CSVLoader(str(DATA / "crossings.csv"), csv_args={"delimiter": ";"})
    page = BSHTMLLoader(str(DATA / "shipyard.html"), bs_kwargs={"features": "lxml"})
    loaded = [*from_langchain(rows), *from_langchain(page.load())]
    loaded += from_langchain(TextLoader(str(DATA / "pier.txt")))
    assert len({document.source for document in loaded}) == 5
    for query, place in {
        "Ylva": ("crossings", "crossings.csv#3"),
        "ferries yard": ("The shipyard – Harsund", "shipyard.html#1"),
        "dogs": ("pier", "pier.txt#1"),
    }.items():
        assert await found(tmp_path / "index", loaded, query) == place


async def test_pages_of_one_file_are_told_apart_and_blank_ones_left_out() -> None:
    pages = [
        Document(text, metadata={"source": "a.pdf", "title": "A", "page": page})
        for page, text in enumerate(["One.", " ", "Three.", "Four."])
    ]
    pages.append(pages[-1])
    sources = [(one.title, one.source) for one in from_langchain(pages)]
    assert sources == [("A", f"a.pdf#page={page}") for page in ("1", "3", "4", "4.2")]
    [alone] = from_langchain([Document("Radium glows.")])
    assert alone.source and alone.text == "Radium glows."


@pytest.mark.parametrize("kind", ["tf-idf", "nearest"])
async def test_retrievers_are_searched(kind: str) -> None:
    if kind == "tf-idf":
        source = TFIDFRetriever.from_texts(TEXTS, metadatas=[{"title": text} for text in TEXTS])
    else:
        source = KNNRetriever.from_texts(TEXTS, DeterministicFakeEmbedding(size=32))
    [[first, *rest]] = await LangChainRetriever(source).retrieve([TEXTS[1]], 2)
    assert first.passage["text"] == TEXTS[1] and len(rest) == 1
    assert first.passage["title"] == (TEXTS[1] if kind == "tf-idf" else "")
