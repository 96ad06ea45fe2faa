"""How many of the facts that a question needs a retriever puts first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ras_flow.evaluation.statistics import Difference, Interval, bootstrap, compare_paired
from ras_flow.parts.protocols import FactRetriever
from ras_flow.training.retriever.data import Example


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
