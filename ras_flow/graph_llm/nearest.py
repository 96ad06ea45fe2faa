"""The triples of each hop that are nearest to its subquery: a smaller graph to read."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import numpy as np

from ras_flow.graph_llm.attributes import EMBEDDINGS
from ras_flow.parts.protocols import SentenceEncoder
from ras_flow.state.kg import by_hop
from ras_flow.state.schema import Hop, Triple


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
