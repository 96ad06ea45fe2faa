"""Graphs as tensors: the one place where numpy arrays become what a GNN reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch_geometric.data import Batch, Data

from ras_flow.components import AttributedGraph
from ras_flow.graph_llm.config import GnnConfig
from ras_flow.graph_llm.queries import with_queries


@dataclass(frozen=True)
class GraphBatch:
    """Several graphs as one, and which nodes are averaged into which vector.

    Attributes:
        nodes: Node attributes, shape (nodes, dimension); the last two nodes are in no graph.
        edge_index: Source and target of each edge, shape (2, edges).
        edge_attr: Edge attributes, shape (edges, dimension + 1).
        members: Rows of ``nodes``, shape (members,): each node once for each piece that it is in.
        pieces: The piece of each member. A piece is a hop, or a whole graph.
        counts: How many pieces each graph has, at least one; some have no members.
    """

    nodes: torch.Tensor
    edge_index: torch.Tensor
    edge_attr: torch.Tensor
    members: torch.Tensor
    pieces: torch.Tensor
    counts: list[int]


def batch_graphs(
    graphs: Sequence[AttributedGraph | None],
    config: GnnConfig,
    dimension: int,
    device: torch.device | str = "cpu",
) -> GraphBatch:
    """Turn graphs into tensors.

    Each triple becomes two edges, since what is said of a subject also describes the object; the
    last column of their attributes is 1 for the one against the triple's direction.

    Args:
        graphs: The graphs; None counts as an empty one.
        config: Says which parts of a graph are encoded together and which are averaged.
        dimension: Length of the attributes.
        device: Where the tensors go.

    Returns:
        The tensors. A graph without hops counts as one of one hop; a hop without triples is a
        piece without members.
    """
    data: list[Data] = []
    members: list[torch.Tensor] = []
    pieces: list[torch.Tensor] = []
    counts: list[int] = []
    start = piece = 0
    for given in graphs:
        graph = given or _EMPTY
        count = 0
        for part, averaged in _parts(
            with_queries(graph) if config.queries else graph, config, dimension
        ):
            for rows in averaged:
                members.append(torch.from_numpy(rows) + start)
                pieces.append(torch.full((len(rows),), piece + count))
                count += 1
            data.append(part)
            start += part.num_nodes
        counts.append(count)
        piece += count
    # Two linked nodes that belong to no piece: even in a batch of empty graphs each weight is used
    # and gets a gradient, for which training on several devices waits.
    unseen = Data(
        x=torch.zeros(2, dimension),
        edge_index=torch.tensor([[0, 1], [1, 0]]),
        edge_attr=torch.zeros(2, dimension + 1),
    )
    joined = Batch.from_data_list([*data, unseen])
    none = torch.zeros(0, dtype=torch.long)
    return GraphBatch(
        nodes=joined.x.to(device),
        edge_index=joined.edge_index.to(device),
        edge_attr=joined.edge_attr.to(device),
        members=torch.cat([*members, none]).to(device),
        pieces=torch.cat([*pieces, none]).to(device),
        counts=counts,
    )


_EMPTY = AttributedGraph(
    nodes=[],
    node_attr=np.zeros((0, 0), dtype=np.float32),
    edges=[],
    edge_attr=np.zeros((0, 0), dtype=np.float32),
    edge_index=np.zeros((2, 0), dtype=np.int64),
    hops=[],
    query_attr=np.zeros((0, 0), dtype=np.float32),
)


def _parts(
    graph: AttributedGraph, config: GnnConfig, dimension: int
) -> Iterator[tuple[Data, list[np.ndarray[tuple[int], np.dtype[np.int64]]]]]:
    """Yield what is encoded together, each with the rows of its own nodes to be averaged."""
    if not graph.hops:
        yield _data(graph, dimension), [np.arange(len(graph.nodes))]
        return
    inside = [np.unique(graph.edge_index[:, hop]) for hop in graph.hops]
    if config.scope == "merged":
        # The node of a subquery that found nothing has no links, and counts nowhere.
        linked = np.unique(graph.edge_index)
        yield _data(graph, dimension), inside if config.tokens == "per_hop" else [linked]
        return
    for hop, rows in zip(graph.hops, inside, strict=True):
        place = np.zeros(len(graph.nodes), dtype=np.int64)
        place[rows] = np.arange(len(rows))
        subgraph = AttributedGraph(
            nodes=[graph.nodes[row] for row in rows],
            node_attr=graph.node_attr[rows],
            edges=[graph.edges[edge] for edge in hop],
            edge_attr=graph.edge_attr[hop],
            edge_index=place[graph.edge_index[:, hop]],
            hops=[],
            query_attr=_EMPTY.query_attr,
        )
        yield _data(subgraph, dimension), [np.arange(len(rows))]


def _data(graph: AttributedGraph, dimension: int) -> Data:
    """Return a graph with both directions of each triple."""
    index = torch.from_numpy(np.concatenate([graph.edge_index, graph.edge_index[::-1]], axis=1))
    relations = torch.from_numpy(graph.edge_attr).reshape(-1, dimension).repeat(2, 1)
    against = torch.zeros(len(relations), 1)
    against[len(relations) // 2 :] = 1
    return Data(
        x=torch.from_numpy(graph.node_attr).reshape(-1, dimension),
        edge_index=index,
        edge_attr=torch.cat([relations, against], dim=1),
    )
