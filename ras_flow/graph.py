"""The wiring of RAS (paper figure 1): plan, retrieve, structure, merge, encode, answer.

Three of the nodes have two forms. In the paper's loop, each calls a model of its own. With one call
a hop, ``to_triples`` asks one model for the hop's facts and the next step, and ``plan`` and
``answer`` take that step.

``build_graph()`` returns the builder, for users who compile it with their own checkpointer, store
or parts. ``graph`` is compiled without any of these, for a LangGraph server, which has its own.
"""

from __future__ import annotations

from functools import partial

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from langgraph.graph import END, START
from langgraph.types import Overwrite

from ras_flow import routing
from ras_flow.builder import SystemBuilder
from ras_flow.edits.planning import BEFORE_PLAN, EDIT_POINTS, OPERATIONS, before_answer
from ras_flow.nodes import one_call
from ras_flow.nodes.answer import answer
from ras_flow.nodes.encode import encode
from ras_flow.nodes.merge_graph import merge_graph
from ras_flow.nodes.node import by_loop
from ras_flow.nodes.plan import plan
from ras_flow.nodes.retrieve import retrieve
from ras_flow.nodes.review import Review
from ras_flow.nodes.routes import Route, add_routes
from ras_flow.nodes.shown import shown
from ras_flow.nodes.start import start
from ras_flow.nodes.to_triples import to_triples
from ras_flow.parts.chosen import Parts
from ras_flow.parts.protocols import (
    Answerer,
    Extractor,
    FactRetriever,
    KnowledgeSource,
    LanguageModel,
    Planner,
    Retriever,
    SentenceEncoder,
)
from ras_flow.parts.source import PartsSource
from ras_flow.settings.context import Context
from ras_flow.state import stop_reasons
from ras_flow.state.channels import RasState
from ras_flow.systems import System

REVIEWS = (
    Review(
        node="review_plan",
        point="before_retrieval",
        before="retrieve",
        allowed=BEFORE_PLAN,
        then=routing.after_review_plan,
    ),
    Review(
        node="review_graph",
        point="after_merge",
        after="merge_graph",
        then=routing.after_merge,
        readers=routing.readers,
    ),
    Review(
        node="review_answer",
        point="before_answer",
        before="answer",
        allowed=before_answer,
        then=routing.after_review_answer,
    ),
)
"""Where a person may approve or edit a run, if its settings ask for a review."""

POINTS = [review.point for review in REVIEWS]

OWN = {"plans": Overwrite([]), "encodes": None, "step": None}
"""RAS's own channels before a run begins."""


def wire(parts: PartsSource) -> SystemBuilder[RasState]:
    """Wire the six nodes of figure 1 over parts that may come from anywhere."""
    builder = SystemBuilder(SYSTEM.name, RasState, parts)
    stop = routing.stop_reason
    builder.add_work("start", partial(start, points=POINTS, own=OWN))
    builder.add_work("plan", by_loop(plan, one_call=one_call.plan))
    builder.add_work("retrieve", partial(retrieve, query=routing.planned_subquery, shown=shown))
    builder.add_work("to_triples", by_loop(to_triples, one_call=one_call.to_triples))
    builder.add_work("merge_graph", partial(merge_graph, readers=routing.readers))
    builder.add_work("encode", encode)
    conclude = partial(one_call.answer, stop=stop)
    builder.add_work("answer", by_loop(partial(answer, stop=stop), one_call=conclude))

    builder.add_edge(START, "start")
    builder.add_edge("retrieve", "to_triples")
    builder.add_edge("to_triples", "merge_graph")
    builder.add_edge("answer", END)
    routes: dict[str, Route] = {
        "start": routing.after_start,
        "plan": (routing.after_plan, routing.PLAN_EDGES),
        "merge_graph": routing.after_merge,
        "encode": routing.after_encode,
    }
    add_routes(builder, SYSTEM, routes, REVIEWS)
    return builder


def build_graph(
    *,
    planner: Planner | LanguageModel | BaseChatModel | None = None,
    retriever: Retriever | BaseRetriever | VectorStore | None = None,
    extractor: Extractor | LanguageModel | BaseChatModel | None = None,
    answerer: Answerer | LanguageModel | BaseChatModel | None = None,
    encoder: SentenceEncoder | None = None,
    knowledge: KnowledgeSource | None = None,
    fact_retriever: FactRetriever | None = None,
    defaults: Context | None = None,
) -> SystemBuilder[RasState]:
    """Build the RAS state machine (paper figure 1).

    Args:
        planner: The planner, in place of the one that the Context names. Like the extractor and
            the answerer, it may be a part of ours, a language model of ours or a LangChain chat
            model.
        retriever: One of ours, or any LangChain ``BaseRetriever`` or ``VectorStore``.
        extractor: The text-to-triples model, in place of the Context's.
        answerer: The answerer, in place of the Context's.
        encoder: The sentence encoder of the graph's attributes.
        knowledge: A knowledge graph to search beside the documents.
        fact_retriever: What scores the facts of that knowledge graph.
        defaults: The settings for whatever a run does not set. A chat model passed as an object
            always has the timeout, retries and other limits of these settings, whatever a run
            sets.

    Returns:
        A builder; call ``.compile(checkpointer=…, store=…)`` on it, or add the compiled graph as
        a node to a graph of your own.

    Raises:
        ConfigurationError: An object cannot play the role for which it was passed.
    """
    parts = Parts.of(
        planner=planner,
        retriever=retriever,
        extractor=extractor,
        answerer=answerer,
        encoder=encoder,
        knowledge=knowledge,
        fact_retriever=fact_retriever,
        defaults=defaults,
    )
    return wire(parts)


SYSTEM = System(
    name="ras",
    about="retrieval-and-structuring: plan, retrieve and grow a graph until it suffices",
    build=wire,
    stop_reasons=stop_reasons.RAS,
    edit_points=EDIT_POINTS,
    operations=OPERATIONS,
)
"""RAS, as the registry has it."""

graph = build_graph().compile()
