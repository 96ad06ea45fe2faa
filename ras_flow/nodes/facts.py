"""The search of a knowledge graph: the best facts around entities, as pages."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Sequence
from typing import Any, NamedTuple, cast

from ras_flow.errors import ConfigurationError
from ras_flow.formats.triples import clean_field
from ras_flow.kg.subgraph import Subgraph
from ras_flow.parts.checks import one_each, storable
from ras_flow.parts.records import ScoredPassage
from ras_flow.parts.source import PartsSource
from ras_flow.settings.context import Context
from ras_flow.state.kg import triple_id
from ras_flow.state.schema import Entity

BESIDE = 20
"""Facts for a query beside passages."""


class Facts(NamedTuple):
    """What was found: pages, the scores of their triples by id, and what was left out."""

    pages: list[ScoredPassage]
    scores: dict[str, float]
    warnings: list[str]


async def facts_beside(queries: Sequence[str], context: Context, parts: PartsSource) -> Facts:
    """Find the facts around the entities that each query names, beside what else is searched."""
    knowledge = await parts.get_knowledge(context)
    linked = await one_each(len(queries), list, knowledge.link(queries), knowledge)
    naming = [(query, named) for query, named in zip(queries, linked, strict=True) if named]
    if not naming:
        return Facts([], {}, [])
    asked, entities = [query for query, _ in naming], [named for _, named in naming]
    return await find_facts(asked, entities, context, parts, context.kg_triples or BESIDE)


async def find_facts(
    queries: Sequence[str],
    entities: Sequence[Sequence[Entity]],
    context: Context,
    parts: PartsSource,
    most: int,
) -> Facts:
    """Find the facts around the entities of each query that fit it best, so many at most."""
    knowledge = await parts.get_knowledge(context)
    retriever = await parts.get_fact_retriever(context)
    cut_out = knowledge.subgraphs(queries, entities, context.kg_depth)
    subgraphs = await one_each(len(queries), Subgraph, cut_out, knowledge)
    # Any array will do.
    scoring = cast(Awaitable[Sequence[Any]], retriever.score(queries, subgraphs))
    scored = await one_each(len(queries), object, scoring, retriever)
    pages: dict[str, ScoredPassage] = {}
    scores: dict[str, float] = {}
    for subgraph, row in zip(subgraphs, scored, strict=True):
        known = [float(score) if math.isfinite(score) else -1e6 for score in row]
        if len(known) != len(subgraph):
            raise ConfigurationError(
                f"{type(retriever).__name__} scored {len(known)} of {len(subgraph)} facts: it has "
                "to return a score for each."
            )
        chosen = sorted(range(len(known)), key=lambda at: (-known[at], at))[:most]
        for at in chosen:
            id = triple_id(*map(clean_field, subgraph.fact(at)))
            scores[id] = max(round(known[at], 6), scores.get(id, -math.inf))
        for page in await knowledge.pages(subgraph, chosen):
            ids = [triple_id(*map(clean_field, fact)) for fact in page.get("triples", ())]
            best = max((scores[id] for id in ids if id in scores), default=0.0)
            found = storable(ScoredPassage(page, best), knowledge)
            pages.setdefault(found.passage["id"], found)
    cut = sum(subgraph.cut for subgraph in subgraphs)
    warnings = [f"{cut} fact(s) around the entities were not looked at: there are too many."]
    return Facts(list(pages.values()), scores, warnings if cut else [])
