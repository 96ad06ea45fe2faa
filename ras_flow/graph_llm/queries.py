"""Subqueries as nodes: a graph encoder that knows what was asked for, not only what was found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ras_flow.parts.records import AttributedGraph


def with_queries(graph: AttributedGraph) -> AttributedGraph:
    """Add a node for each subquery, linked to all entities of its hop.

    An extension of eq. 2 and 8: whether a graph suffices depends on the question as well, and the
    paper's graph encoder sees entities and relations alone. The question is the first subquery
    (q_0 = Q, §3.1), so each later subquery that found something is linked to the first one too.
    """
    if not any(graph.hops):
        return graph
    question = len(graph.nodes)
    hops = [list(hop) for hop in graph.hops]
    links: list[tuple[int, int]] = []
    for row, hop in enumerate(graph.hops):
        linked = np.unique(graph.edge_index[:, hop]).tolist() if hop else []
        if linked and row:
            linked.append(question)
        start = len(graph.edges) + len(links)
        hops[row] += range(start, start + len(linked))
        links += [(question + row, other) for other in linked]
    blank = np.zeros((len(links), graph.edge_attr.shape[1]), dtype=np.float32)
    names = [""] * len(graph.hops)
    return replace(
        graph,
        nodes=[*graph.nodes, *names],
        node_attr=np.concatenate([graph.node_attr, graph.query_attr]),
        edges=[*graph.edges, *[""] * len(links)],
        edge_attr=np.concatenate([graph.edge_attr, blank]),
        edge_index=np.concatenate([graph.edge_index, np.array(links, dtype=np.int64).T], axis=1),
        hops=hops,
    )
