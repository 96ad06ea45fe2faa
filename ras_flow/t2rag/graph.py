"""The wiring of T²RAG (paper figure 2): decompose, then retrieve and resolve until all is filled.

``build_t2rag()`` returns the builder; ``graph`` is compiled without checkpointer and store, for a
LangGraph server that brings its own.
"""

from __future__ import annotations

from functools import partial

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from langgraph.graph import END, START
from langgraph.types import Overwrite

from ras_flow.builder import SystemBuilder
from ras_flow.nodes.answer import answer
from ras_flow.nodes.review import Review
from ras_flow.nodes.routes import Route, add_routes
from ras_flow.nodes.start import start
from ras_flow.parts.chosen import Parts
from ras_flow.parts.protocols import (
    Answerer,
    Extractor,
    LanguageModel,
    Retriever,
    SentenceEncoder,
    TripleRetriever,
)
from ras_flow.parts.source import PartsSource
from ras_flow.settings.context import Context
from ras_flow.state.stop_reasons import SHARED, StopReason
from ras_flow.systems import System
from ras_flow.t2rag import routing
from ras_flow.t2rag.edits import EDIT_POINTS, OPERATIONS, shown_clues, shown_next
from ras_flow.t2rag.nodes.decompose import decompose
from ras_flow.t2rag.nodes.resolve import resolve
from ras_flow.t2rag.nodes.retrieve import open_triples, retrieve
from ras_flow.t2rag.settings import T2Context
from ras_flow.t2rag.shown import TELLS, open_clues, sections
from ras_flow.t2rag.state import T2Output, T2State
from ras_flow.t2rag.view import answerer_reads, doubts, supporting

_review = partial(Review, then=routing.after_resolve, shows=shown_clues)

REVIEWS = (
    _review(node="review_plan", point="before_retrieval", before="retrieve", shows=shown_next),
    _review(node="review_graph", point="after_merge", after="resolve"),
    _review(node="review_answer", point="before_answer", before="answer"),
)
"""Where a person may approve or edit a run, if its settings ask for that."""

POINTS = [review.point for review in REVIEWS]

OWN = {
    **dict.fromkeys(("plans", "rounds"), Overwrite([])),
    **dict.fromkeys(("clues", "fills", "choices", "verdicts"), Overwrite({})),
}
"""T²RAG's own channels before a run begins."""

STOP_REASONS = {
    **SHARED,
    "sufficient": StopReason("every clue was resolved"),
    "max_hops": StopReason("the limit of rounds was reached", cut_short=True),
    "no_progress": StopReason("another search would have found nothing new", cut_short=True),
}
"""Why a run of T²RAG stopped searching and answered."""


def wire(parts: PartsSource) -> SystemBuilder[T2State]:
    """Wire the nodes over parts that may come from anywhere."""
    builder = SystemBuilder(SYSTEM.name, T2State, parts, output=T2Output)
    builder.add_work("start", partial(start, points=POINTS, own=OWN, open_search=open_triples))
    builder.add_work("decompose", decompose)
    builder.add_work("retrieve", retrieve)
    builder.add_work("resolve", resolve)
    told = partial(answer, reads=answerer_reads, cites=supporting, doubts=doubts)
    conclude = partial(told, stop=routing.stop_reason, held=routing.held_answer)
    builder.add_work("answer", conclude)
    builder.add_edge(START, "start")
    builder.add_edge("retrieve", "resolve")
    builder.add_edge("answer", END)
    routes: dict[str, Route] = {
        "start": routing.after_start,
        "decompose": (routing.after_decompose, routing.DECOMPOSE_EDGES),
        "resolve": routing.after_resolve,
    }
    add_routes(builder, SYSTEM, routes, REVIEWS)
    return builder


def build_t2rag(
    *,
    planner: LanguageModel | BaseChatModel | None = None,
    resolver: LanguageModel | BaseChatModel | None = None,
    retriever: Retriever | BaseRetriever | VectorStore | None = None,
    triple_retriever: TripleRetriever | None = None,
    extractor: Extractor | LanguageModel | BaseChatModel | None = None,
    answerer: Answerer | LanguageModel | BaseChatModel | None = None,
    encoder: SentenceEncoder | None = None,
    defaults: Context | None = None,
) -> SystemBuilder[T2State]:
    """Build T²RAG's state machine (paper figure 2).

    Args:
        planner: Decomposes the question; replaces the model that the settings name, as the others
            do for theirs.
        resolver: Fills slots; the planner's object if left out.
        retriever: Finds passages, whose triples are extracted and ranked as they are found; those
            of a knowledge graph (:class:`ras_flow.parts.facts.KgRetriever`) have theirs.
        triple_retriever: Finds passages by their triples, in place of retriever and index.
        extractor: The text-to-triples model.
        answerer: The answerer.
        encoder: The sentence encoder of clues and triples.
        defaults: The settings that a run is not given: a T2Context, or any other.

    Returns:
        A builder; call ``.compile(checkpointer=…, store=…)`` on it, or add the compiled graph as
        a node to a graph of your own.

    Raises:
        ConfigurationError: An object cannot play its role.
    """
    settings = T2Context.of(defaults)
    parts = Parts.of(
        planner=planner,
        resolver=resolver or (None if settings.resolver else planner),
        retriever=retriever,
        triple_retriever=triple_retriever,
        extractor=extractor,
        answerer=answerer,
        encoder=encoder,
        defaults=settings,
    )
    return wire(parts)


SYSTEM = System(
    name="t2rag",
    about="triple-driven: break the question into clues, fill their slots from found triples",
    build=wire,
    context=T2Context,
    stop_reasons=STOP_REASONS,
    edit_points=EDIT_POINTS,
    operations=OPERATIONS,
    tells=TELLS,
    open=open_clues,
    sections=sections,
)
"""T²RAG, as the registry has it."""

graph = build_t2rag().compile()
