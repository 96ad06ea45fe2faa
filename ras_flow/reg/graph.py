"""The wiring of ReG: link, retrieve, structure, merge, reorganise, answer (arXiv 2506.22518).

Facts of a knowledge graph come as pages that state their triples, so that the nodes in the middle
are RAS's own. ``build_reg()`` returns the builder; ``graph`` is compiled for a LangGraph server.
"""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langgraph.graph import START
from langgraph.runtime import Runtime

from ras_flow.builder import SystemBuilder
from ras_flow.errors import InputError
from ras_flow.nodes.merge_graph import merge_graph
from ras_flow.nodes.review import Review
from ras_flow.nodes.routes import Route, add_routes
from ras_flow.nodes.start import open_graph
from ras_flow.nodes.start import start as begin
from ras_flow.nodes.to_triples import to_triples
from ras_flow.parts.chosen import Parts
from ras_flow.parts.protocols import Answerer, FactRetriever, KnowledgeSource, LanguageModel
from ras_flow.parts.source import PartsSource
from ras_flow.reg import routing
from ras_flow.reg.edits import EDIT_POINTS, OPERATIONS
from ras_flow.reg.nodes.answer import answer, ask_again
from ras_flow.reg.nodes.link import link
from ras_flow.reg.nodes.reorganise import reorganise
from ras_flow.reg.nodes.retrieve import retrieve
from ras_flow.reg.settings import RegContext
from ras_flow.reg.shown import sections, tell_chains, tell_entities, tell_graph, tell_nothing
from ras_flow.reg.state import RegOutput, RegState
from ras_flow.settings.context import Context
from ras_flow.state.stop_reasons import StopReason
from ras_flow.systems import System

REVIEWS = (
    Review(
        node="review_entities", point="after_link", after="link", then=routing.after_review_entities
    ),
    Review(node="review_graph", point="after_merge", after="merge_graph", then=routing.after_merge),
    Review(
        node="review_answer", point="before_answer", before="answer", then=routing.after_reorganise
    ),
)
"""Where a person may approve or edit a run, if its settings ask for that."""

POINTS = [review.point for review in REVIEWS]

OWN: dict[str, Any] = {"entities": [], "answers": []}
"""ReG's own channels before a run begins."""

STOP_REASONS = {
    "retrieved": StopReason("the best facts were retrieved"),
    "no_entity": StopReason("the question names no entity of the graph", cut_short=True),
}
"""Why a run of ReG answered."""


def wire(parts: PartsSource) -> SystemBuilder[RegState]:
    """Wire the nodes over parts that may come from anywhere."""
    builder = SystemBuilder(SYSTEM.name, RegState, parts, output=RegOutput)
    builder.add_work("start", start)
    builder.add_work("link", link)
    builder.add_work("retrieve", retrieve)
    builder.add_work("to_triples", to_triples)
    builder.add_work("merge_graph", merge_graph)
    builder.add_work("reorganise", reorganise)
    builder.add_work("answer", answer)

    builder.add_edge(START, "start")
    builder.add_edge("start", "link")
    builder.add_edge("retrieve", "to_triples")
    builder.add_edge("to_triples", "merge_graph")
    routes: dict[str, Route] = {
        "link": routing.after_link,
        "merge_graph": routing.after_merge,
        "reorganise": routing.after_reorganise,
        "answer": routing.after_answer,
    }
    add_routes(builder, SYSTEM, routes, REVIEWS)
    return builder


async def start(state: RegState, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Accept the question; its facts are in the graph, so that documents are refused."""
    if state.get("documents"):
        raise InputError(
            "ReG answers from a knowledge graph and takes no `documents`: leave them out, or use "
            "the system ras with `kg`, which reads both."
        )
    return await begin(state, runtime, parts, points=POINTS, own=OWN, open_search=open_graph)


def build_reg(
    *,
    knowledge: KnowledgeSource | None = None,
    fact_retriever: FactRetriever | None = None,
    answerer: Answerer | LanguageModel | BaseChatModel | None = None,
    defaults: Context | None = None,
) -> SystemBuilder[RegState]:
    """Build ReG's state machine.

    Args:
        knowledge: The knowledge graph; replaces the one that the settings name, as the next two do
            for theirs.
        fact_retriever: Scores its facts.
        answerer: The answerer, or a model that is asked with evidence chains.
        defaults: The settings that a run is not given: a RegContext, or any other.

    Returns:
        A builder; call ``.compile(checkpointer=…, store=…)`` on it, or add the compiled graph as
        a node to a graph of your own.

    Raises:
        ConfigurationError: An object cannot play its role.
    """
    parts = Parts.of(
        knowledge=knowledge,
        fact_retriever=fact_retriever,
        answerer=answerer,
        defaults=RegContext.of(defaults),
    )
    return wire(parts)


SYSTEM = System(
    name="reg",
    about="a knowledge graph: link entities, retrieve facts, read them as evidence chains",
    build=wire,
    context=RegContext,
    stop_reasons=STOP_REASONS,
    edit_points=EDIT_POINTS,
    operations=OPERATIONS,
    tells={
        "entities": tell_entities,
        "passages": tell_nothing,
        "extracted": tell_nothing,
        "graph": tell_graph,
        "chains": tell_chains,
    },
    documents=False,
    sections=sections,
    keeps=("entities",),
    asks=ask_again,
)
"""ReG, as the registry has it."""

graph = build_reg().compile()
