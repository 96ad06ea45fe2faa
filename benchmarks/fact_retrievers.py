"""Which share of the facts that a question needs do retrievers of facts put first?

    python benchmarks/fact_retrievers.py LABELS local:FOLDER similarity --source pathquestion

LABELS is a folder of `ras-flow data supervise --refiner gold`. Questions on one entity, as
paraphrases are, count once. Each retriever, and the mean of all but the last, is compared with the
last.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ras_flow.evaluation.statistics import bootstrap, compare_paired
from ras_flow.kg.retrievers.opening import open_retriever
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.training.retriever.config import DataSettings
from ras_flow.training.retriever.data import Example, read_examples, recall_at


def main() -> None:
    """Print a line for each retriever and number of facts."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("labels", type=Path)
    arguments.add_argument("retrievers", nargs="+")
    arguments.add_argument("--source", required=True)
    arguments.add_argument("--split", default="test", choices=("dev", "test"))
    arguments.add_argument("--depth", type=int, default=2)
    arguments.add_argument("--most", type=int, default=20_000)
    arguments.add_argument("--top", type=int, nargs="+", default=(5, 10, 20))
    measure(**vars(arguments.parse_args()), encoder=LocalSentenceEncoder())


def measure(
    labels: Path,
    retrievers: Sequence[str],
    source: str,
    split: Any,
    depth: int,
    most: int,
    top: Sequence[int],
    encoder: Any,
) -> None:
    """Score the questions of a split by each retriever, and compare them."""
    settings = DataSettings(sets=(str(labels.resolve()),), depth=depth, most=most, only=(source,))
    examples = read_examples(settings, Path(), split)
    groups = {example.record["entities"][0] for example in examples}
    facts = np.mean([len(example.graph) for example in examples])
    print(f"{source}/{split}: {len(examples)} questions, {len(groups)} entities, {facts:.0f} facts")
    found: dict[str, dict[int, Any]] = {}
    for name in retrievers:
        began = time.perf_counter()
        scores = asyncio.run(scored(open_retriever(name, encoder), examples))
        seconds = (time.perf_counter() - began) / len(examples)
        print(f"{name}: {1000 * seconds:.0f} ms a question")
        found[name] = {
            k: by_group(
                [recall_at(k, s, e) for s, e in zip(scores, examples, strict=True)], examples
            )
            for k in top
        }
    *others, last = retrievers
    for k in top:
        rows = {name: found[name][k] for name in retrievers}
        if len(others) > 1:
            rows["mean of all but the last"] = np.mean([found[name][k] for name in others], axis=0)
        for name, values in rows.items():
            own, gap = bootstrap(values), compare_paired(values, rows[last])
            print(
                f"@{k} {name}: {own.mean:.3f} [{own.low:.3f}, {own.high:.3f}]; minus {last}: "
                f"{gap.mean:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}], p {gap.p:.4f}"
            )


async def scored(retriever: Any, examples: Sequence[Example]) -> list[Any]:
    """Return the scores of each question's facts."""
    return [
        (await retriever.score([example.record["question"]], [example.graph]))[0]
        for example in examples
    ]


def by_group(values: Sequence[float], examples: Sequence[Example]) -> Any:
    """Return the mean of the questions on each entity."""
    groups: dict[str, list[float]] = {}
    for value, example in zip(values, examples, strict=True):
        groups.setdefault(example.record["entities"][0], []).append(value)
    return np.array([np.mean(some) for some in groups.values()])


if __name__ == "__main__":
    main()
