"""ReG, and the ceiling of its retrievers: the same graph, other parts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ras_flow.builder import SystemBuilder
from ras_flow.evaluation.systems.registry import Ingredients
from ras_flow.formats.triples import Spo
from ras_flow.kg.subgraph import Subgraph
from ras_flow.reg.graph import SYSTEM
from ras_flow.state.kg import triple_id


def whole(given: Ingredients) -> SystemBuilder[Any]:
    """Build ReG."""
    return SYSTEM.build(given.parts)


def with_gold(given: Ingredients) -> SystemBuilder[Any]:
    """Build ReG that finds the gold facts first."""
    return SYSTEM.build(replace(given.parts, fact_retriever=GoldRetriever(given.gold)))


class GoldRetriever:
    """Prefers the gold facts to all others."""

    identity = "gold"

    def __init__(self, gold: Mapping[str, Collection[Spo]]) -> None:
        self._gold = {question: {triple_id(*one) for one in gold[question]} for question in gold}

    async def score(
        self, questions: Sequence[str], subgraphs: Sequence[Subgraph]
    ) -> list[npt.NDArray[np.float32]]:
        """Score gold facts 1, others 0."""
        return [
            np.array([triple_id(*graph.fact(at)) in gold for at in range(len(graph))], np.float32)
            for graph, gold in zip(
                subgraphs, (self._gold.get(one, set()) for one in questions), strict=True
            )
        ]
