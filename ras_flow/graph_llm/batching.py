"""Graphs as tensors: the one place where numpy arrays become what a GNN reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.config import GnnConfig
from ras_flow.parts.records import AttributedGraph

if TYPE_CHECKING:
    from collections.abc import Callable

    _Rows = npt.NDArray[np.int64]
    _Vectors = npt.NDArray[np.float32]


Graphs = Sequence[AttributedGraph | None]
"""One per row; None for an empty graph."""


class _Part(NamedTuple):
    """What is encoded together: nodes, and of each edge its ends, relation and direction."""

    nodes: _Vectors
    edges: _Rows
    relations: _Vectors
    against: _Vectors


_NO_ROWS = np.zeros(0, dtype=np.int64)


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

    def to(self, device: torch.device | str, non_blocking: bool = False) -> GraphBatch:
        """Return it on a device; arguments as for a tensor."""
        return self._each(lambda tensor: tensor.to(device, non_blocking=non_blocking))

    def pin_memory(self) -> GraphBatch:
        """Return it in memory that a GPU reads by itself: loaders of torch call this."""
        return self._each(torch.Tensor.pin_memory)

    def _each(self, change: Callable[[torch.Tensor], torch.Tensor]) -> GraphBatch:
        return replace(
            self,
            nodes=change(self.nodes),
            edge_index=change(self.edge_index),
            edge_attr=change(self.edge_attr),
            members=change(self.members),
            pieces=change(self.pieces),
        )


def batch_graphs(graphs: Graphs, config: GnnConfig, dimension: int) -> GraphBatch:
    """Turn graphs into tensors.

    Each triple becomes two edges, since what is said of a subject also describes the object; the
    last column of their attributes is 1 for the one against the triple's direction.
    """
    parts: list[_Part] = []
    members: list[_Rows] = []
    counts: list[int] = []
    pieces: list[int] = []
    start = 0
    for given in graphs:
        if given is not None and given.node_attr.shape[1] != dimension:
            raise ConfigurationError(
                f"The graph's attributes have {given.node_attr.shape[1]} dimensions, but this "
                f"Graph LLM was trained on {dimension}. Set `encoder` to the sentence encoder that "
                "it was trained with."
            )
        graph = given or _EMPTY
        counts.append(0)
        whole = _with_queries(graph) if config.queries else graph
        for part, averaged in _parts(whole, config, dimension):
            members += [rows + start for rows in averaged]
            pieces += map(len, averaged)
            counts[-1] += len(averaged)
            parts.append(part._replace(edges=part.edges + start))
            start += len(part.nodes)
    # Two linked nodes that belong to no piece: even in a batch of empty graphs each weight is used
    # and gets a gradient, for which training on several devices waits.
    blank = np.zeros((2, dimension), dtype=np.float32)
    parts.append(
        _Part(blank, np.array([[start, start + 1], [start + 1, start]]), blank, blank[:, 0])
    )
    nodes, edges, relations, against = zip(*parts, strict=True)
    return GraphBatch(
        nodes=torch.from_numpy(np.concatenate(nodes)),
        edge_index=torch.from_numpy(np.concatenate(edges, axis=1)),
        edge_attr=torch.from_numpy(
            np.column_stack([np.concatenate(relations), np.concatenate(against)])
        ),
        members=torch.from_numpy(np.concatenate([*members, _NO_ROWS])),
        pieces=torch.from_numpy(np.repeat(np.arange(len(pieces)), pieces)),
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
) -> Iterator[tuple[_Part, list[_Rows]]]:
    """Yield what is encoded together, each with the rows of its own nodes to be averaged."""
    if not graph.hops:
        yield (
            _part(graph.node_attr, graph.edge_index, graph.edge_attr, dimension),
            [np.arange(len(graph.nodes))],
        )
        return
    inside = [np.unique(graph.edge_index[:, hop]) for hop in graph.hops]
    if config.scope == "merged":
        # The node of a subquery that found nothing has no links, and counts nowhere.
        linked = np.unique(graph.edge_index)
        yield (
            _part(graph.node_attr, graph.edge_index, graph.edge_attr, dimension),
            inside if config.tokens == "per_hop" else [linked],
        )
        return
    place = np.zeros(len(graph.nodes), dtype=np.int64)
    for hop, rows in zip(graph.hops, inside, strict=True):
        own = np.arange(len(rows))
        place[rows] = own
        edges = place[graph.edge_index[:, hop]]
        yield _part(graph.node_attr[rows], edges, graph.edge_attr[hop], dimension), [own]


def _part(nodes: _Vectors, edges: _Rows, relations: _Vectors, dimension: int) -> _Part:
    """Return a graph with both directions of each triple."""
    both = np.concatenate([relations, relations]).reshape(-1, dimension)
    against = np.repeat(np.array([0, 1], dtype=np.float32), len(relations))
    ends = np.concatenate([edges, edges[::-1]], axis=1)
    return _Part(nodes.reshape(-1, dimension), ends, both, against)


def _with_queries(graph: AttributedGraph) -> AttributedGraph:
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
