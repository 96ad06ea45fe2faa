"""Recall of BM25, vectors and both, joined by rank or by score; and what a share of the best keeps.

    python benchmarks/hybrid.py --data DIR [--part train] [--per 220]

Of each file, questions of one part of the split of `recipes/configs/graph-llm-mix.toml` are
searched for in the documents of all its questions, and so are their subqueries and "What is known
about …?", each with the titles that they should find. Joining and the share were chosen on
``train``; ``test`` are questions that training left untouched.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from titles import FILES, MIX, Queries, by_question, by_subquery

from ras_flow.documents import SourceDocument
from ras_flow.evaluation.benchmarks import load_benchmark
from ras_flow.evaluation.question import Question
from ras_flow.indexes import CorpusIndex
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.parts import ScoredPassage
from ras_flow.training.splits import read_apart

SHARES = (0.0, 0.4, 0.5, 0.6)
DEPTH = 50
RANK_OFFSET = 60
"""The constant k of reciprocal rank fusion (Cormack et al., 2009)."""

Ranking = Sequence[ScoredPassage]


def known_about(questions: Sequence[Question]) -> Queries:
    """Return a query for each title that a question rests on."""
    titles = {step.title for one in questions for step in one.support if step.title}
    return [(f"What is known about {title}?", {title}) for title in sorted(titles)]


def by_rank(rankings: Sequence[Ranking]) -> Ranking:
    """Join rankings by reciprocal rank fusion."""
    passages = {one.passage["id"]: one.passage for ranking in rankings for one in ranking}
    scores = dict.fromkeys(passages, 0.0)
    for ranking in rankings:
        for rank, one in enumerate(ranking, start=1):
            scores[one.passage["id"]] += 1 / (RANK_OFFSET + rank)
    best = sorted(scores, key=lambda id: (-scores[id], id))
    return [ScoredPassage(passages[id], scores[id]) for id in best]


def recall(queries: Queries, rankings: Sequence[Ranking], k: int) -> float:
    """Return the share of titles that are among the first k passages."""
    found = [{one.passage["title"] for one in ranking[:k]} for ranking in rankings]
    return mean(len(gold & got) / len(gold) for (_, gold), got in zip(queries, found, strict=True))


def above(ranking: Ranking, share: float) -> Ranking:
    """Return the first two, without a second that scores below a share of the first."""
    return [one for one in ranking[:2] if one.score >= share * ranking[0].score]


async def main(data: Path, part: str, per: int) -> None:
    """Print two tables, of recall and of shares."""
    apart, encoder = read_apart(MIX), LocalSentenceEncoder()
    recalls, shares = [], []
    for name, file in FILES.items():
        benchmark = load_benchmark(
            name, data / file, limit=per, only=lambda one: apart(one.question, one.pages) == part
        )
        documents = [
            SourceDocument(str(at), one.get("title", ""), one["text"])
            for at, one in enumerate(benchmark.pool)
        ]
        with tempfile.TemporaryDirectory() as folder:
            index = await CorpusIndex.build(folder, documents, encoder=encoder)
            for kind, queries in (
                ("questions", by_question(benchmark.questions)),
                ("subqueries", by_subquery(benchmark.questions)),
                ("what is known", known_about(benchmark.questions)),
            ):
                asked = [(query, gold) for query, gold in queries if gold]
                if not asked:
                    continue
                texts = [query for query, _ in asked]
                words = await index.retriever("bm25").retrieve(texts, DEPTH)
                vectors = await index.retriever("dense").retrieve(texts, DEPTH)
                joined = await index.retriever("hybrid").retrieve(texts, DEPTH)
                ranks = [by_rank(both) for both in zip(words, vectors, strict=True)]
                row = f"| {name}, {kind} | {len(asked)}"
                cells = [
                    f"{100 * recall(asked, rankings, k):.1f}"
                    for k in (2, 5)
                    for rankings in (words, vectors, ranks, joined)
                ]
                recalls.append(f"{row} | {' | '.join(cells)} |")
                cells = []
                for rankings in (words, joined):
                    for share in SHARES:
                        kept = [above(ranking, share) for ranking in rankings]
                        fewer = 1 - sum(map(len, kept)) / sum(len(one[:2]) for one in rankings)
                        found = recall(asked, kept, 2)
                        cells.append(f"{100 * found:.1f}" + f", {100 * fewer:.0f}%" * (share > 0))
                shares.append(f"{row} | {' | '.join(cells)} |")
    names = ("BM25", "vectors", "both by rank", "both by score")
    print(
        "| queries | asked |", " | ".join(f"{one}, first {k}" for k in (2, 5) for one in names), "|"
    )
    print("| --- |" + " ---: |" * 9)
    print("\n".join(recalls))
    print()
    kinds = [
        f"{one}, {'all' if not share else share}" for one in ("BM25", "both") for share in SHARES
    ]
    print("| queries | asked |", " | ".join(kinds), "|")
    print("| --- |" + " ---: |" * (1 + len(kinds)))
    print("\n".join(shares))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the files")
    parser.add_argument("--part", choices=["train", "dev", "test"], default="test")
    parser.add_argument("--per", type=int, default=400, help="questions of a file at most")
    given = parser.parse_args()
    asyncio.run(main(given.data, given.part, given.per))
