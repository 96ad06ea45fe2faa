"""The graphs of all records, with the text of each node, relation and subquery embedded once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from ras_flow.graph_llm.attributes import NamedGraph, nearest_triples
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.parts.records import AttributedGraph
from ras_flow.state.kg import triple_id
from ras_flow.training.data.records import Record
from ras_flow.training.data.requests import as_graph
from ras_flow.training.vectors import embed

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True)
class Graphs:
    """Graphs by position; the vectors of a graph are put together when it is asked for.

    Attributes:
        shapes: The graphs, with a text's row in ``vectors`` in place of its vector.
        vectors: One row a text, shape (texts, dimension).
    """

    shapes: Sequence[AttributedGraph]
    vectors: npt.NDArray[np.float32]
    encoder: str

    def __getitem__(self, position: int) -> AttributedGraph:
        """Return a graph as inference builds it."""
        shape = self.shapes[position]
        return replace(
            shape,
            node_attr=self.vectors[shape.node_attr[:, 0].astype(np.int64)],
            edge_attr=self.vectors[shape.edge_attr[:, 0].astype(np.int64)],
            query_attr=self.vectors[shape.query_attr[:, 0].astype(np.int64)],
            encoder=self.encoder,
        )


def build_graphs(
    records: Sequence[Record], encoder: SentenceEncoder, cache: Path | None = None
) -> Graphs:
    """Build the graphs of records, outside of any event loop."""
    rows: dict[str, int] = {}
    shapes: list[AttributedGraph] = []
    for record in records:
        named = NamedGraph.from_state(*as_graph(record))
        numbers = [rows.setdefault(text, len(rows)) for text in named.texts]
        # As float32, which is exact up to 16 million texts.
        shapes.append(named.with_vectors(np.array(numbers, np.float32).reshape(-1, 1), ""))
    texts = list(rows)
    vectors = embed(texts, encoder, cache) if cache else asyncio.run(encoder.encode(texts))
    return Graphs(shapes, vectors, encoder.identity)


def shuffled(graphs: Graphs, seed: int) -> Graphs:
    """Give each position another one's graph, as a control."""
    order = list(range(len(graphs.shapes)))
    random.Random(seed).shuffle(order)
    shapes = list(graphs.shapes)
    for here, there in zip(order, order[1:] + order[:1], strict=True):
        shapes[here] = graphs.shapes[there]
    return replace(graphs, shapes=shapes)


def nearest_records(
    records: Sequence[Record], encoder: SentenceEncoder, most: int | None
) -> list[Record]:
    """Leave of each record what a model of ``max_triples`` reads, outside of any event loop."""
    if most is None:
        return list(records)
    nearest: list[Record] = []

    async def cut() -> None:
        for record in records:
            kept = await nearest_triples(*as_graph(record), encoder, most)
            chain = [
                {**link, "triples": [one for one in link["triples"] if triple_id(*one) in kept]}
                for link in record["chain"]
            ]
            nearest.append(cast(Record, {**record, "chain": chain}))

    asyncio.run(cut())
    return nearest
