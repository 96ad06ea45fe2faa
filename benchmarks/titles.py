"""What it brings BM25 that named titles count, and that question words do not.

    python benchmarks/titles.py --data DIR [--top 5] [--per 400]

Of each file, questions that `recipes/configs/graph-llm-mix.toml` keeps for testing (others
chose how it is done) are searched for in the documents of all its questions, and so are the
subqueries that people wrote for them, with the title that each asks for. "What is known about …?"
is how training asks for a step of HotpotQA: asked of each title that a question rests on, it should
find all of that question's titles.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from unittest.mock import patch

from ras_flow.evaluation.benchmarks import load_benchmark
from ras_flow.evaluation.question import Question
from ras_flow.indexes import BM25Retriever
from ras_flow.training.splits import read_apart

FILES = {
    "2wikimultihopqa": "2wiki_ctx_train.jsonl.gz",
    "hotpotqa": "hotpotqa_ctx.jsonl.gz",
    "musique": "musique_ctx.jsonl.gz",
}
MIX = Path(__file__).parents[1] / "recipes" / "configs" / "graph-llm-mix.toml"

Queries = Sequence[tuple[str, set[str]]]
"""Queries with the titles that they should find."""


def by_question(questions: Sequence[Question]) -> Queries:
    """Return questions with all that they rest on."""
    return [(one.question, {step.title for step in one.support}) for one in questions]


def by_subquery(questions: Sequence[Question]) -> Queries:
    """Return subqueries, those that quote an earlier answer by its number left out."""
    steps = [step for one in questions for step in one.support if step.title]
    return [
        (one.subquery, {one.title}) for one in steps if one.subquery and "#" not in one.subquery
    ]


def by_title(questions: Sequence[Question]) -> Queries:
    """Return a query for each title that a question rests on, with all of the question's titles."""
    return [
        (f"What is known about {title}?", titles)
        for one in questions
        if (titles := {step.title for step in one.support if step.title})
        for title in sorted(titles)
    ]


def recall(retriever: BM25Retriever, queries: Queries, k: int) -> tuple[float, float]:
    """Return the share of titles found, and of queries with all of theirs found."""
    found = asyncio.run(retriever.retrieve([query for query, _ in queries], k))
    titles = [{passage["title"] for passage, _ in ranking} for ranking in found]
    shares = [
        len(gold & got) / len(gold) for (_, gold), got in zip(queries, titles, strict=True) if gold
    ]
    return mean(shares), mean(share == 1 for share in shares)


def main(data: Path, k: int, per: int) -> None:
    """Print a table, three rows a file at most."""
    apart = read_apart(MIX)
    print(
        "| queries | asked | found by words, % | by titles too | without question words "
        "| all found by words, % | by titles too | without question words |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    )
    for name, file in FILES.items():
        benchmark = load_benchmark(
            name, data / file, limit=per, only=lambda one: apart(one.question, one.pages) == "test"
        )
        retriever = BM25Retriever.from_documents(benchmark.pool)
        for kind, queries in (
            ("questions", by_question(benchmark.questions)),
            ("subqueries", by_subquery(benchmark.questions)),
            ("what is known", by_title(benchmark.questions)),
        ):
            if not queries:
                continue
            now = recall(retriever, queries, k)
            with patch("ras_flow.indexes.bm25.QUESTION_WORDS", frozenset()):
                named = recall(retriever, queries, k)
                with patch("ras_flow.indexes.bm25.named_first", lambda found, *_: list(found)):
                    words = recall(retriever, queries, k)
            shares = [
                f"{100 * value:.1f}"
                for three in zip(words, named, now, strict=True)
                for value in three
            ]
            print(f"| {name}, {kind} | {len(queries)} | {' | '.join(shares)} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the files")
    parser.add_argument("--top", type=int, default=5)
    parser.add_argument("--per", type=int, default=400)
    given = parser.parse_args()
    main(given.data, given.top, given.per)
