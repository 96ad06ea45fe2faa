"""The search of a knowledge graph: the best facts around what queries name, as pages."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Sequence
from typing import Any, NamedTuple, cast

from ras_flow.errors import ConfigurationError
from ras_flow.formats.triples import clean_field
from ras_flow.kg.subgraph import Subgraph
from ras_flow.parts.checks import one_each, storable
from ras_flow.parts.protocols import FactRetriever, KnowledgeSource
from ras_flow.parts.records import ScoredPassage
from ras_flow.state.kg import triple_id
from ras_flow.state.schema import Entity

BESIDE = 20
"""Facts for a query beside passages."""


class Facts(NamedTuple):
    """What was found: pages, the scores of their triples by id, and what was left out."""

    pages: list[ScoredPassage]
    scores: dict[str, float]
    warnings: list[str]


class KgRetriever:
    """A knowledge graph as a :class:`ras_flow.parts.Retriever`: pages of the facts that fit best.

    Facts are at most ``depth`` edges from an entity that a query names, at most ``facts`` a query.
    """

    def __init__(
        self,
        knowledge: KnowledgeSource,
        scorer: FactRetriever,
        *,
        depth: int = 2,
        facts: int = BESIDE,
    ) -> None:
        self.identity = f"kg({knowledge.identity}, {scorer.identity})"
        self._knowledge = knowledge
        self._scorer = scorer
        self._depth = depth
        self._facts = facts

    async def retrieve(self, queries: Sequence[str], k: int) -> list[list[ScoredPassage]]:
        """Find the pages around the entities that each query names."""
        linked = await self._link(queries)
        found = [
            await self.find([query], [named]) for query, named in zip(queries, linked, strict=True)
        ]
        return [one.pages[:k] for one in found]

    async def search(self, queries: Sequence[str]) -> Facts:
        """Find the facts around the entities that the queries name."""
        return await self.find(queries, await self._link(queries))

    async def _link(self, queries: Sequence[str]) -> Sequence[list[Entity]]:
        return await one_each(len(queries), list, self._knowledge.link(queries), self._knowledge)

    async def find(self, queries: Sequence[str], entities: Sequence[Sequence[Entity]]) -> Facts:
        """Find the facts around the entities of each query; none around none."""
        pairs = [(query, named) for query, named in zip(queries, entities, strict=True) if named]
        queries, entities = [query for query, _ in pairs], [named for _, named in pairs]
        if not pairs:
            return Facts([], {}, [])
        cut_out = self._knowledge.subgraphs(queries, entities, self._depth)
        subgraphs = await one_each(len(queries), Subgraph, cut_out, self._knowledge)
        # Any array will do.
        scoring = cast(Awaitable[Sequence[Any]], self._scorer.score(queries, subgraphs))
        scored = await one_each(len(queries), object, scoring, self._scorer)
        pages: dict[str, ScoredPassage] = {}
        scores: dict[str, float] = {}
        for subgraph, row in zip(subgraphs, scored, strict=True):
            known = [float(score) if math.isfinite(score) else -1e6 for score in row]
            if len(known) != len(subgraph):
                raise ConfigurationError(
                    f"{type(self._scorer).__name__} scored {len(known)} of {len(subgraph)} facts: "
                    "it has to return a score for each."
                )
            chosen = sorted(range(len(known)), key=lambda at: (-known[at], at))[: self._facts]
            for at in chosen:
                id = triple_id(*map(clean_field, subgraph.fact(at)))
                scores[id] = max(round(known[at], 6), scores.get(id, -math.inf))
            for page in await self._knowledge.pages(subgraph, chosen):
                ids = [triple_id(*map(clean_field, fact)) for fact in page.get("triples", ())]
                best = max((scores[id] for id in ids if id in scores), default=0.0)
                found = storable(ScoredPassage(page, best), self._knowledge)
                pages.setdefault(found.passage["id"], found)
        cut = sum(subgraph.cut for subgraph in subgraphs)
        warnings = [f"{cut} fact(s) around the entities were not looked at: there are too many."]
        return Facts(list(pages.values()), scores, warnings if cut else [])
