"""What it brings BM25 that named titles count, and that question words do not.

    python benchmarks/titles.py --data DIR [--top 5] [--per 400] [--long PART]

Of each file, questions that `recipes/configs/graph-llm-mix.toml` keeps for testing (others
chose how it is done) are searched for in the documents of all its questions, and so are the
subqueries that people wrote for them, with the title that each asks for. "What is known about …?"
is how training asks for a step of HotpotQA: asked of each title that a question rests on, it should
find all of that question's titles.

``--long`` prints another table, of the questions of one part of the split: how often the sentence
that a question rests on is found, and how often where it comes after its page's first passage.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from unittest.mock import patch

from ras_flow.documents import SourceDocument
from ras_flow.documents.split import split_document
from ras_flow.evaluation.benchmarks import load_benchmark
from ras_flow.evaluation.question import Question
from ras_flow.indexes import BM25Retriever
from ras_flow.state.schema import Document
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


def sentences_found(
    retriever: BM25Retriever,
    pool: Sequence[Document],
    queries: Sequence[tuple[str, str, str]],
    k: int,
) -> list[float]:
    """Return the share of queries whose passage holds their sentence, of all and of late ones."""
    firsts = {}
    for document in pool:
        whole = SourceDocument("", document.get("title", ""), document["text"])
        firsts.setdefault(whole.title, _letters(split_document(whole)[0]["text"]))
    rankings = asyncio.run(retriever.retrieve([query for query, *_ in queries], k))
    found = [
        any(text in _letters(one.passage["text"]) for one in ranking)
        for (_, _, text), ranking in zip(queries, rankings, strict=True)
    ]
    late = [text not in firsts.get(title, "") for _, title, text in queries]
    return [mean(found), mean(one for one, after in zip(found, late, strict=True) if after)]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def long_pages(data: Path, k: int, part: str) -> None:
    """Print how often sentences are found, with the first passage of a page raised and with all."""
    apart = read_apart(MIX)
    print("| queries | asked | best raised, % | others by half | late ones | others by half |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, file in FILES.items():
        benchmark = load_benchmark(
            name, data / file, only=lambda one: apart(one.question, one.pages) == part
        )
        retriever = BM25Retriever.from_documents(benchmark.pool)
        steps = [(one.question, step) for one in benchmark.questions for step in one.support]
        known = [
            (q, step.title, _letters(step.text)[:60])
            for q, step in steps
            if step.title and step.text
        ]
        for kind, queries in (
            ("questions", known),
            ("what is known", [(f"What is known about {t}?", t, text) for _, t, text in known]),
        ):
            now = sentences_found(retriever, benchmark.pool, queries, k)
            with patch("ras_flow.indexes.titles.REST", 0):
                best = sentences_found(retriever, benchmark.pool, queries, k)
            shares = [f"{100 * one:.1f}" for two in zip(best, now, strict=True) for one in two]
            print(f"| {name}, {kind} | {len(queries)} | {' | '.join(shares)} |", flush=True)


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
    parser.add_argument("--long", choices=["train", "dev", "test"])
    given = parser.parse_args()
    if given.long:
        long_pages(given.data, given.top, given.long)
    else:
        main(given.data, given.top, given.per)
