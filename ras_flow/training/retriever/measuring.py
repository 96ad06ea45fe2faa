"""How many of the facts that a question needs a retriever puts first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ras_flow.evaluation.statistics import Difference, Interval, bootstrap, compare_paired
from ras_flow.kg.retrievers.opening import open_retriever
from ras_flow.llms.sentence_encoder import LocalSentenceEncoder
from ras_flow.parts.protocols import FactRetriever
from ras_flow.training.retriever.config import DataSettings
from ras_flow.training.retriever.data import Example, read_examples
from ras_flow.training.splits import Split


def recall_at(top: int, scores: npt.NDArray[Any], example: Example) -> float:
    """Return the share of the facts to find that are among the best; ties go by position."""
    best = np.argsort(-scores, kind="stable")[:top]
    found = {example.graph.fact(int(at)) for at in best}
    wanted = example.wanted
    return len(found & wanted) / len(wanted)


async def recalls(retriever: FactRetriever, examples: Sequence[Example], top: int) -> list[float]:
    """Return each question's recall."""
    found = []
    for example in examples:
        [scores] = await retriever.score([example.record["question"]], [example.graph])
        found.append(recall_at(top, scores, example))
    return found


def by_group(values: Sequence[float], examples: Sequence[Example]) -> dict[str, float]:
    """Return the mean of each group: questions about one entity, as paraphrases are, count once."""
    groups: dict[str, list[float]] = {}
    for value, example in zip(values, examples, strict=True):
        record = example.record
        groups.setdefault(record.get("group", record["entities"][0]), []).append(value)
    return {name: float(np.mean(some)) for name, some in groups.items()}


def compared(
    values: Sequence[float], others: Sequence[float], examples: Sequence[Example]
) -> tuple[Interval, Difference]:
    """Return the mean over groups, and the gap to other values, with 95 % intervals."""
    mine, theirs = by_group(values, examples), by_group(others, examples)
    return bootstrap(list(mine.values())), compare_paired(
        list(mine.values()), list(theirs.values())
    )


async def measure(
    labels: Path,
    names: Sequence[str],
    *,
    source: str,
    split: Split,
    top: int,
    depth: int,
    most: int | None,
) -> list[str]:
    """Measure retrievers on labelled questions, and compare the first with each other one."""
    only = (source,) if source else ()
    settings = DataSettings(sets=(str(labels.resolve()),), depth=depth, only=only)
    examples = read_examples(settings, Path(), split, most=most)
    encoder = LocalSentenceEncoder()
    values = {name: await recalls(open_retriever(name, encoder), examples, top) for name in names}
    told = [f"recall@{top} of {len(examples)} questions on {split}, means over entities"]
    for name in names:
        _, gap = compared(values[names[0]], values[name], examples)
        own, _ = compared(values[name], values[name], examples)
        told.append(f"{name}: {own.mean:.3f} [{own.low:.3f}, {own.high:.3f}]")
        if name != names[0]:
            told[-1] += (
                f"; {names[0]} minus it: {gap.mean:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}], "
                f"p {gap.p:.4f}"
            )
    return told
