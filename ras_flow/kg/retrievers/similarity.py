"""Similarity search over facts: nothing is trained."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ras_flow.kg.retrievers.batch import entity_text, relation_text
from ras_flow.kg.subgraph import Subgraph
from ras_flow.parts.protocols import SentenceEncoder

LEVEL = np.float32(0.3)
"""The cosine above which a fact is more likely needed than not, on PathQuestion and WebQSP."""


class SimilarityRetriever:
    """Scores a fact by how near its words are to the question."""

    def __init__(self, encoder: SentenceEncoder) -> None:
        self._encoder = encoder
        self.identity = f"similarity:{encoder.identity}"

    async def score(
        self, questions: Sequence[str], subgraphs: Sequence[Subgraph]
    ) -> list[npt.NDArray[np.float32]]:
        """Score facts by the cosine of two vectors, less what chance makes of it."""
        found = []
        for question, graph in zip(questions, subgraphs, strict=True):
            texts = [fact_text(graph, at) for at in range(len(graph))]
            [asked] = await self._encoder.encode([question])
            found.append(await self._encoder.encode(texts) @ asked - LEVEL)
        return found


def fact_text(graph: Subgraph, triple: int) -> str:
    """Write a fact as words; an entity without a name is left out."""
    head, relation, tail = graph.triples[triple].tolist()
    names = [entity_text(graph.entities[at]) if graph.named[at] else "" for at in (head, tail)]
    return " ".join(f"{names[0]} {relation_text(graph.relations[relation])} {names[1]}".split())
