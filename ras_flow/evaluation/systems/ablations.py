"""Systems with another part: ablations of RAS (table 2, figure 4) and T²RAG, and ReG's ceiling."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from random import Random
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ras_flow.builder import SystemBuilder
from ras_flow.errors import ConfigurationError
from ras_flow.evaluation.systems.registry import Ingredients
from ras_flow.formats.triples import Spo
from ras_flow.graph import SYSTEM
from ras_flow.kg.subgraph import Subgraph
from ras_flow.parts.checks import reading_of
from ras_flow.parts.protocols import Answerer, Retriever
from ras_flow.parts.records import (
    AnswerRequest,
    AttributedGraph,
    ChainLink,
    FoundTriples,
    PlanRequest,
    Reply,
    ScoredPassage,
    TripleQuery,
)
from ras_flow.state.kg import spo_of, triple_id
from ras_flow.state.schema import Triple
from ras_flow.systems import find_system

T = TypeVar("T")
Graph = SystemBuilder[Any]


def without_encoding(given: Ingredients) -> Graph:
    """Build RAS whose models read the graph as text only."""
    planner = given.parts.planner and TextOnly(given.parts.planner)
    answerer = TextOnly(_needed(given.parts.answerer, "answerer"))
    return SYSTEM.build(replace(given.parts, planner=planner, answerer=answerer))


def without_planning(given: Ingredients) -> Graph:
    """Build RAS that searches for the question, once."""
    return SYSTEM.build(replace(given.parts, planner=NoPlanner()))


def with_share(given: Ingredients) -> Graph:
    """Build RAS whose answerer sees a share of the triples."""
    answerer = _needed(given.parts.answerer, "answerer")
    shared = ShareAnswerer(answerer, **given.options, seed=given.seed)
    return SYSTEM.build(replace(given.parts, answerer=shared))


def over_chunks(given: Ingredients) -> Graph:
    """Build T²RAG over passages without propositions."""
    searched = ChunkRetriever(_needed(given.parts.retriever, "retriever"))
    return find_system("t2rag").build(replace(given.parts, triple_retriever=searched))


def with_gold(given: Ingredients) -> Graph:
    """Build ReG that finds the gold facts first."""
    retriever = GoldRetriever(given.gold)
    return find_system("reg").build(replace(given.parts, fact_retriever=retriever))


def _needed(part: T | None, role: str) -> T:
    if part is None:
        raise ConfigurationError(
            f'This ablation changes the {role}, which is not asked apart here: set loop = "paper".'
        )
    return part


class NoPlanner:
    """No planning: searches for the question, once, without asking a model."""

    identity = "none"
    takes_soft_tokens = False

    async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
        """Return the plan to search for the question, at no cost."""
        return [
            Reply("[SUFFICIENT]" if one.chain else "[SUBQ] the question", calls=0)
            for one in requests
        ]


class TextOnly:
    """No graph encoding: a planner or answerer that is given the text of the graph alone."""

    def __init__(self, part: Any) -> None:
        self._part = part
        self.takes_soft_tokens = part.takes_soft_tokens
        self.identity = f"{part.identity}|text"
        self.reading = reading_of(part)

    async def plan(self, requests: Sequence[PlanRequest]) -> list[Reply]:
        """Plan without soft tokens."""
        made: list[Reply] = await self._part.plan([replace(one, graph=None) for one in requests])
        return made

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
        """Answer without soft tokens."""
        made: list[Reply] = await self._part.answer([replace(one, graph=None) for one in requests])
        return made


class ShareAnswerer:
    """Gives an answerer a share of the triples that it would read (figure 4), unlike the planner.

    A question's triples are shuffled by seed and question, and the first ones are kept, so that a
    larger share holds all that a smaller one of the same shuffle holds.
    """

    def __init__(
        self, answerer: Answerer, share: float = 1.0, shuffle: int = 1, seed: int = 0
    ) -> None:
        if not 0 <= share <= 1:
            raise ConfigurationError(f"share = {share} must be from 0 to 1.")
        self._answerer = answerer
        self._share, self._shuffle, self._seed = share, shuffle, seed
        self.identity = f"{answerer.identity}|{share}:{shuffle}:{seed}"
        self.takes_soft_tokens = answerer.takes_soft_tokens
        self.reading = reading_of(answerer)

    async def answer(self, requests: Sequence[AnswerRequest]) -> list[Reply]:
        """Answer each request from its share."""
        return await self._answerer.answer([self._cut(request) for request in requests])

    def _cut(self, request: AnswerRequest) -> AnswerRequest:
        ids = (_key(triple) for link in request.chain for triple in link.triples)
        kept = draw_share(ids, request.question, self._share, self._shuffle, self._seed)
        chain = [
            ChainLink(
                link.subquery,
                [triple for triple in link.triples if _key(triple) in kept],
                link.passages,
            )
            for link in request.chain
        ]
        graph = request.graph and cut_graph(request.graph, kept)
        return replace(request, chain=chain, graph=graph)


def draw_share(
    ids: Iterable[str], question: str, share: float, shuffle: int, seed: int
) -> set[str]:
    """Return the triples of a question that :class:`ShareAnswerer` keeps."""
    order = sorted(set(ids))
    Random(f"{seed}\0{shuffle}\0{question}").shuffle(order)
    return set(order[: math.ceil(share * len(order))])


def cut_graph(graph: AttributedGraph, kept: set[str]) -> AttributedGraph:
    """Return the part of a graph that some of its triples make."""
    subjects, objects = graph.edge_index
    edges = [
        at
        for at, relation in enumerate(graph.edges)
        if triple_id(graph.nodes[subjects[at]], relation, graph.nodes[objects[at]]) in kept
    ]
    nodes = sorted({int(end) for at in edges for end in (subjects[at], objects[at])})
    node_at = {node: at for at, node in enumerate(nodes)}
    edge_at = {edge: at for at, edge in enumerate(edges)}
    index = [[node_at[int(row[at])] for at in edges] for row in graph.edge_index]
    return AttributedGraph(
        nodes=[graph.nodes[node] for node in nodes],
        node_attr=graph.node_attr[nodes],
        edges=[graph.edges[edge] for edge in edges],
        edge_attr=graph.edge_attr[edges],
        edge_index=np.asarray(index, dtype=np.int64).reshape(2, len(edges)),
        hops=[[edge_at[edge] for edge in hop if edge in edge_at] for hop in graph.hops],
        query_attr=graph.query_attr,
        encoder=graph.encoder,
    )


def _key(triple: Triple) -> str:
    return triple_id(*spo_of(triple))


class ChunkRetriever:
    """Finds passages by what clues say, the best of each clue in turn."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever
        self.identity = f"chunks({retriever.identity})"

    async def find(self, queries: Sequence[TripleQuery], k: int) -> FoundTriples:
        """Find passages alone; those that a query has read already do not count."""
        most = k + max((len(query.skip) for query in queries), default=0)
        found = await self._retriever.retrieve([query.text for query in queries], most)
        new = [
            [one for one in ranking if one.passage["id"] not in query.skip]
            for query, ranking in zip(queries, found, strict=True)
        ]
        best: dict[str, ScoredPassage] = {}
        for one in filter(None, chain.from_iterable(zip_longest(*new))):
            best.setdefault(one.passage["id"], one)
        return FoundTriples(passages=list(best.values())[:k])


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
