"""Nodes and edges of the question's graph with sentence embeddings (eq. 5)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import numpy as np

from ras_flow.components import AttributedGraph, SentenceEncoder
from ras_flow.graph_llm.embeddings import EMBEDDINGS
from ras_flow.state.kg import QueryKG, by_hop
from ras_flow.state.schema import Hop, Triple


async def attribute_graph(
    triples: Mapping[str, Triple], hops: Sequence[Hop], encoder: SentenceEncoder
) -> AttributedGraph:
    """Build the input of the graph encoder.

    Args:
        triples: The graph G_Q as the state holds it.
        hops: The subquery chain.
        encoder: Embeds entity and relation names, and subqueries.

    Returns:
        The graph with one node for each entity and one edge for each triple, in the order of the
        state; an empty graph has arrays with no rows.
    """
    kg = await asyncio.to_thread(QueryKG.from_triples, triples)
    position = {name: index for index, name in enumerate(kg.entities)}
    nodes = list(kg.entities.values())
    edges = [triple["predicate"] for triple in kg.triples.values()]
    relations = list(dict.fromkeys(edges))
    subqueries = [hop["subquery"] for hop in hops]
    vectors = await EMBEDDINGS.encode(encoder, [*nodes, *relations, *subqueries])
    place = {name: index for index, name in enumerate(relations, start=len(nodes))}
    row = {id: index for index, id in enumerate(kg.triples)}
    ends = [(position[subject], position[object]) for subject, object in kg.edges.values()]
    return AttributedGraph(
        nodes=nodes,
        node_attr=vectors[: len(nodes)],
        edges=edges,
        edge_attr=vectors[np.array([place[name] for name in edges], dtype=np.int64)],
        edge_index=np.array(ends, dtype=np.int64).reshape(-1, 2).T,
        hops=[[row[id] for id in ids] for ids in by_hop(triples, hops)],
        query_attr=vectors[len(nodes) + len(relations) :],
        # In a thread: an encoder may read its weights to know its name.
        encoder=await asyncio.to_thread(lambda: encoder.identity),
    )
