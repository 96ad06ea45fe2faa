"""Speed and recall of the retrievers, beside bm25s and FAISS called directly.

Needs ``2wiki_corpus.jsonl.gz`` (lines with title, text) and ``2wiki_evidence.jsonl.gz`` (lines
with question, support, in_corpus) in a folder:

    python benchmarks/retrieval.py --data DIR
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import platform
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from statistics import mean, median

import bm25s
import faiss
import numpy as np

from ras_flow.documents import SourceDocument, split_text
from ras_flow.indexes import CorpusIndex
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.parts import Retriever

K = 5
ROUNDS = 5
Search = Callable[[Sequence[str]], Awaitable[list[list[str]]]]


def lines(path: Path) -> list[dict]:
    """Read gzipped JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def ours(retriever: Retriever) -> Search:
    """Return a search by one of our retrievers."""

    async def search(queries: Sequence[str]) -> list[list[str]]:
        found = await retriever.retrieve(queries, K)
        return [[passage["title"] for passage, _ in ranking] for ranking in found]

    return search


def direct_bm25s(index: CorpusIndex) -> Search:
    """Return a search by bm25s itself over the index's passages, all words kept."""
    titles = [passage["title"] for passage in index.passages]
    texts = [f"{passage['title']}\n{passage['text']}" for passage in index.passages]
    engine = bm25s.BM25()
    engine.index(bm25s.tokenize(texts, stopwords=None, show_progress=False), show_progress=False)

    async def search(queries: Sequence[str]) -> list[list[str]]:
        tokens = bm25s.tokenize(list(queries), stopwords=None, show_progress=False)
        found, _ = engine.retrieve(tokens, k=K, show_progress=False)
        return [[titles[at] for at in row] for row in found]

    return search


def direct_faiss(index: CorpusIndex, encoder: LocalSentenceEncoder) -> Search:
    """Return a search by FAISS itself over the index's vectors."""
    titles = [passage["title"] for passage in index.passages]
    engine = faiss.IndexFlatIP(encoder.dimension)
    engine.add(np.load(index.path / index.manifest.generation / "vectors.npy"))

    async def search(queries: Sequence[str]) -> list[list[str]]:
        _, found = engine.search(encoder.encode_sync(queries), K)
        return [[titles[at] for at in row] for row in found]

    return search


async def recall(search: Search, questions: list[dict]) -> float:
    """Return the mean share of a question's support titles among the first K."""
    found = await search([item["question"] for item in questions])
    shares = []
    for item, titles in zip(questions, found, strict=True):
        gold = {title for title, _ in item["support"]}
        shares.append(len(gold & set(titles)) / len(gold))
    return mean(shares)


async def speed(search: Search, queries: list[str], batch: int) -> float:
    """Return queries a second."""
    start = time.perf_counter()
    for at in range(0, len(queries), batch):
        await search(queries[at : at + batch])
    return len(queries) / (time.perf_counter() - start)


def processor() -> str:
    """Return the processor's name."""
    try:
        info = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    return next(
        (line.split(":")[1].strip() for line in info.splitlines() if "model name" in line), "?"
    )


async def main(data: Path) -> None:
    """Print the tables."""
    corpus = lines(data / "2wiki_corpus.jsonl.gz")
    evidence = lines(data / "2wiki_evidence.jsonl.gz")
    questions = [item for item in evidence if item["in_corpus"]]
    queries = [item["question"] for item in evidence[:256]]
    documents = [
        SourceDocument(f"{at:05}", item["title"], item["text"]) for at, item in enumerate(corpus)
    ]
    encoder = LocalSentenceEncoder(cache_size=0)
    encoder.encode_sync(["load the model first"])
    print(f"{processor()}, {os.cpu_count()} cores, {platform.system()}, Python "
          f"{platform.python_version()}\n")  # fmt: skip

    with tempfile.TemporaryDirectory() as folder:
        print("| step | seconds |\n| --- | ---: |")
        start = time.perf_counter()
        for document in documents:
            split_text(document.text)
        print(f"| split {len(documents)} documents | {time.perf_counter() - start:.2f} |")
        start = time.perf_counter()
        await CorpusIndex.build(Path(folder, "bm25"), documents, encoder=None)
        print(f"| build, BM25 alone | {time.perf_counter() - start:.1f} |")
        start = time.perf_counter()
        index = await CorpusIndex.build(Path(folder, "full"), documents, encoder=encoder)
        print(
            f"| build with vectors of {len(index)} passages | {time.perf_counter() - start:.1f} |"
        )
        extra = SourceDocument("new", "New", "One more document.")
        start = time.perf_counter()
        index = await index.update([extra])
        index = await index.update(remove=["new"])
        print(f"| add one document, or remove it | {(time.perf_counter() - start) / 2:.2f} |")
        start = time.perf_counter()
        index = CorpusIndex.open(Path(folder, "full"), encoder=encoder)
        print(f"| open | {time.perf_counter() - start:.3f} |")
        start = time.perf_counter()
        index.verify()
        print(f"| verify | {time.perf_counter() - start:.3f} |")
        size = sum(record.size for record in index.manifest.files.values())
        print(f"\nIndex on disk: {size / 2**20:.1f} MiB.\n")

        searches = {
            "bm25": ours(index.retriever("bm25")),
            "bm25s directly": direct_bm25s(index),
            "dense": ours(index.retriever("dense")),
            "encoder and FAISS directly": direct_faiss(index, encoder),
            "hybrid": ours(index.retriever("hybrid")),
        }
        print(f"| retriever | recall@{K} | queries/s, one at a time | queries/s, 64 at once |")
        print("| --- | ---: | ---: | ---: |")
        shares = {name: await recall(search, questions) for name, search in searches.items()}
        rates: dict[str, list[tuple[float, float]]] = {name: [] for name in searches}
        for _ in range(ROUNDS):  # rounds of all, so that a busy minute slows all alike
            for name, search in searches.items():
                pair = (await speed(search, queries, 1), await speed(search, queries, 64))
                rates[name].append(pair)
        for name, rounds in rates.items():
            single, many = (median(rates) for rates in zip(*rounds, strict=True))
            print(f"| {name} | {shares[name]:.3f} | {single:.0f} | {many:.0f} |")

    print("\n| ratio of speeds | one at a time | 64 at once |\n| --- | ---: | ---: |")
    for name, base in [("bm25", "bm25s directly"), ("dense", "encoder and FAISS directly")]:
        single, many = (
            median(
                mine[way] / theirs[way]
                for mine, theirs in zip(rates[name], rates[base], strict=True)
            )
            for way in (0, 1)
        )
        print(f"| {name} / {base} | {single:.2f} | {many:.2f} |")
    print(f"\nRecall over {len(questions)} questions; speed over {len(queries)} questions, median "
          f"of {ROUNDS} rounds.")  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the two data files")
    asyncio.run(main(parser.parse_args().data))
