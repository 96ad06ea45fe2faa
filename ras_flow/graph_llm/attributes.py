"""Sentence embeddings of the question's graph (eq. 5), and which of it is nearest to subqueries."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
import numpy.typing as npt

from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.parts.records import AttributedGraph
from ras_flow.state.kg import QueryKG, by_hop
from ras_flow.state.schema import Hop, Triple

KEPT = 20_000
"""Texts whose vectors are kept, those used longest ago forgotten first; 31 MB at 384 dimensions."""


class EmbeddingCache:
    """Vectors by encoder and text, for any encoder."""

    def __init__(self, size: int = KEPT) -> None:
        self.size = size
        self._vectors: OrderedDict[tuple[str, int, str], npt.NDArray[np.float32]] = OrderedDict()
        # Several event loops may share a cache.
        self._lock = Lock()

    async def encode(
        self, encoder: SentenceEncoder, texts: Sequence[str]
    ) -> npt.NDArray[np.float32]:
        """Return the texts' vectors; the encoder sees those that are not known, each once."""
        # In a thread: an encoder may read its weights to know its name and its dimension.
        identity, dimension = await asyncio.to_thread(lambda: (encoder.identity, encoder.dimension))
        found: dict[str, npt.NDArray[np.float32]] = {}
        with self._lock:
            for text in dict.fromkeys(texts):
                key = (identity, dimension, text)
                if key in self._vectors:
                    self._vectors.move_to_end(key)
                    found[text] = self._vectors[key]
        new = [text for text in dict.fromkeys(texts) if text not in found]
        if new:
            # Copies: a row of a matrix would keep all of it in memory.
            computed = [vector.copy() for vector in await encoder.encode(new)]
            found.update(zip(new, computed, strict=True))
            with self._lock:
                for text in new:
                    self._vectors[identity, dimension, text] = found[text]
                while len(self._vectors) > self.size:
                    self._vectors.popitem(last=False)
        rows = np.empty((len(texts), dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            rows[row] = found[text]
        return rows


EMBEDDINGS = EmbeddingCache()
"""The process's own, for all graphs."""


async def attribute_graph(
    triples: Mapping[str, Triple], hops: Sequence[Hop], encoder: SentenceEncoder
) -> AttributedGraph:
    """Build the input of the graph encoder."""
    named = await asyncio.to_thread(NamedGraph.from_state, triples, hops)
    vectors = await EMBEDDINGS.encode(encoder, named.texts)
    # In a thread: an encoder may read its weights to know its name.
    return named.with_vectors(vectors, await asyncio.to_thread(lambda: encoder.identity))


async def nearest_triples(
    triples: Mapping[str, Triple], hops: Sequence[Hop], encoder: SentenceEncoder, most: int
) -> dict[str, Triple]:
    """Keep the triples that are most similar to what was asked for when they were found.

    Ours: the paper's models read the whole of G_Q, most of which is about other things.
    """
    found = await asyncio.to_thread(by_hop, triples, hops)
    crowded = [index for index, ids in enumerate(found) if len(ids) > most]
    if not crowded:
        return dict(triples)
    texts = {id: _words(triples[id]) for index in crowded for id in found[index]}
    subqueries = {index: hops[index]["subquery"] for index in crowded}
    vectors = await EMBEDDINGS.encode(encoder, [*texts.values(), *subqueries.values()])
    by_triple = dict(zip(texts, vectors, strict=False))
    by_subquery = dict(zip(subqueries, vectors[len(texts) :], strict=True))
    kept = {id for index, ids in enumerate(found) if index not in subqueries for id in ids}
    for index in crowded:
        ids = found[index]
        similarity = np.array([by_triple[id] for id in ids]) @ by_subquery[index]
        kept.update(ids[row] for row in np.argsort(-similarity, kind="stable")[:most])
    return {id: triple for id, triple in triples.items() if id in kept}


def _words(triple: Triple) -> str:
    return f"{triple['subject']} {triple['predicate']} {triple['object']}"


@dataclass(frozen=True)
class NamedGraph:
    """The question's graph before its texts are embedded: entities, and a relation a triple.

    ``edge_index`` has the positions of subjects and objects in ``nodes``, shape (2, edges);
    ``hops`` the edges of each hop.
    """

    nodes: list[str]
    edges: list[str]
    edge_index: npt.NDArray[np.int64]
    hops: list[list[int]]
    subqueries: list[str]

    @classmethod
    def from_state(cls, triples: Mapping[str, Triple], hops: Sequence[Hop]) -> NamedGraph:
        """Name the nodes and edges of a graph; arguments as for :func:`attribute_graph`."""
        kg = QueryKG.from_triples(triples)
        position = {name: index for index, name in enumerate(kg.entities)}
        row = {id: index for index, id in enumerate(kg.triples)}
        ends = [(position[subject], position[object]) for subject, object in kg.edges.values()]
        return cls(
            nodes=list(kg.entities.values()),
            edges=[triple["predicate"] for triple in kg.triples.values()],
            edge_index=np.array(ends, dtype=np.int64).reshape(-1, 2).T,
            hops=[[row[id] for id in ids] for ids in by_hop(triples, hops)],
            subqueries=[hop["subquery"] for hop in hops],
        )

    @property
    def texts(self) -> list[str]:
        """What is to be embedded: entities, relations and subqueries, each relation once."""
        return [*self.nodes, *dict.fromkeys(self.edges), *self.subqueries]

    def with_vectors(self, vectors: npt.NDArray[np.float32], encoder: str) -> AttributedGraph:
        """Add the embeddings of ``texts``, shape (texts, dimension), and who made them."""
        relations = dict.fromkeys(self.edges)
        place = {name: index for index, name in enumerate(relations, start=len(self.nodes))}
        return AttributedGraph(
            nodes=self.nodes,
            node_attr=vectors[: len(self.nodes)],
            edges=self.edges,
            edge_attr=vectors[np.array([place[name] for name in self.edges], dtype=np.int64)],
            edge_index=self.edge_index,
            hops=self.hops,
            query_attr=vectors[len(self.nodes) + len(relations) :],
            encoder=encoder,
        )
