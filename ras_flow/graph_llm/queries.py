"""Subqueries as nodes: a graph encoder that knows what was asked for, not only what was found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ras_flow.components import AttributedGraph


def with_queries(graph: AttributedGraph) -> AttributedGraph:
    """Add a node for each subquery that found something, linked to all entities of its hop.

    An extension of §3.3: whether a graph suffices depends on the question as well, and the
    paper's graph encoder sees entities and relations alone.

    Args:
        graph: The graph; not changed.

    Returns:
        The same graph with the subqueries' nodes after the entities. Their links are edges of
        their hop, without a relation: its attribute is zero.
    """
    found = [row for row, hop in enumerate(graph.hops) if hop]
    if not found:
        return graph
    hops = [list(hop) for hop in graph.hops]
    links: list[tuple[int, int]] = []
    for node, row in enumerate(found, start=len(graph.nodes)):
        for entity in np.unique(graph.edge_index[:, graph.hops[row]]):
            hops[row].append(len(graph.edges) + len(links))
            links.append((node, int(entity)))
    blank = np.zeros((len(links), graph.edge_attr.shape[1]), dtype=np.float32)
    ends = np.array(links, dtype=np.int64).T
    return replace(
        graph,
        nodes=[*graph.nodes, *[""] * len(found)],
        node_attr=np.concatenate([graph.node_attr, graph.query_attr[found]]),
        edges=[*graph.edges, *[""] * len(links)],
        edge_attr=np.concatenate([graph.edge_attr, blank]),
        edge_index=np.concatenate([graph.edge_index, ends], axis=1),
        hops=hops,
    )
