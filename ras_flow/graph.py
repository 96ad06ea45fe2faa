"""The wiring of RAS (paper figure 1): plan, retrieve, structure, merge, encode, answer.

``build_graph()`` returns the builder, for users who compile it with their own checkpointer, store
or parts; ``graph`` is compiled without either, for a LangGraph server that brings its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import get_runtime

from ras_flow.errors import ConfigurationError, InputError
from ras_flow.nodes.answer import answer
from ras_flow.nodes.encode import encode
from ras_flow.nodes.merge_graph import merge_graph
from ras_flow.nodes.node import Node
from ras_flow.nodes.plan import plan
from ras_flow.nodes.retrieve import retrieve
from ras_flow.nodes.review import review
from ras_flow.nodes.router import Router
from ras_flow.nodes.start import start
from ras_flow.nodes.to_triples import to_triples
from ras_flow.nodes.view import reads_encoding
from ras_flow.parts.chosen import Parts
from ras_flow.parts.protocols import (
    Answerer,
    Extractor,
    LanguageModel,
    Planner,
    Retriever,
    SentenceEncoder,
)
from ras_flow.routing import decide, next_node
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasInput, RasOutput, RasState

PLAN_EDGES: dict[Hashable, str] = {
    "[SUBQ]": "retrieve",
    "[SUBQ], paused": "review_plan",
    "[SUFFICIENT] or [NO_RETRIEVAL]": "answer",
    "[SUFFICIENT] or [NO_RETRIEVAL], paused": "review_answer",
    "not usable": "plan",
}
"""The edges after a plan, by the plan; where a limit is reached, to the answer too."""


class RasBuilder(StateGraph[RasState, Context, RasInput, RasOutput]):
    """A builder of the RAS graph.

    Attributes:
        parts: Where its nodes get their parts, for checks before a run.
    """

    parts: Parts


def build_graph(
    *,
    planner: Planner | LanguageModel | BaseChatModel | None = None,
    retriever: Retriever | BaseRetriever | VectorStore | None = None,
    extractor: Extractor | LanguageModel | BaseChatModel | None = None,
    answerer: Answerer | LanguageModel | BaseChatModel | None = None,
    encoder: SentenceEncoder | None = None,
    defaults: Context | None = None,
) -> RasBuilder:
    """Build the RAS state machine (paper figure 1).

    Args:
        planner: Replaces the planner that the Context names, as the next three do for theirs.
            LangChain chat models, and language models of ours, are taken as they are for any of
            the three model roles.
        retriever: A retriever of ours, or any LangChain ``BaseRetriever`` or ``VectorStore``.
        extractor: The text-to-triples model.
        answerer: The answerer.
        encoder: The sentence encoder of the graph's attributes.
        defaults: The settings that a run is not given. Chat models that are given as objects have
            the timeout, retries and other limits of these, whatever a run is given.

    Returns:
        A builder; call ``.compile(checkpointer=…, store=…)`` on it, or add the compiled graph as
        a node to a graph of your own.

    Raises:
        ConfigurationError: An object cannot play its role.
    """
    parts = Parts.of(
        planner=planner,
        retriever=retriever,
        extractor=extractor,
        answerer=answerer,
        encoder=encoder,
        defaults=defaults,
    )

    def settings(state: RasState) -> Context:
        # Not as an argument: LangGraph has no runtime to give when a state is edited.
        with _of_an_edit():
            return parts.context(state, get_runtime(Context))

    def after_start(
        state: RasState,
    ) -> Literal["plan", "to_triples", "review_answer", "answer"]:
        return "to_triples" if state["hops"] else after_encode(state)

    def after_plan(state: RasState) -> str:
        context = settings(state)
        step: str = next_node(state, context)
        if step == "retrieve" and context.pause_before_retrieval:
            step = "review_plan"
        return next(str(label) for label, node in PLAN_EDGES.items() if node == step)

    def after_review_plan(
        state: RasState,
    ) -> Literal["retrieve", "plan", "review_answer", "answer"]:
        return next_node(state, settings(state))

    def after_merge(
        state: RasState,
    ) -> Literal["review_graph", "encode", "plan", "review_answer", "answer"]:
        context = settings(state)
        if context.pause_after_merge:
            return "review_graph"
        return after_review_graph(state)

    def after_review_graph(
        state: RasState,
    ) -> Literal["encode", "plan", "review_answer", "answer"]:
        step, context = after_encode(state), settings(state)
        with _of_an_edit():
            return "encode" if reads_encoding(state, context, parts) else step

    def after_encode(state: RasState) -> Literal["plan", "review_answer", "answer"]:
        step = next_node(state, settings(state))
        return "plan" if step == "retrieve" else step

    def after_review_answer(state: RasState) -> Literal["retrieve", "answer"]:
        return "retrieve" if decide(state, settings(state)).step == "retrieve" else "answer"

    builder = RasBuilder(
        RasState, context_schema=Context, input_schema=RasInput, output_schema=RasOutput
    )
    builder.parts = parts
    nodes: dict[str, Any] = {
        "start": partial(start, parts=parts),
        "plan": partial(plan, parts=parts),
        "review_plan": partial(review, parts=parts, node="review_plan"),
        "retrieve": partial(retrieve, parts=parts),
        "to_triples": partial(to_triples, parts=parts),
        "merge_graph": partial(merge_graph, parts=parts),
        "review_graph": partial(review, parts=parts, node="review_graph"),
        "encode": partial(encode, parts=parts),
        "review_answer": partial(review, parts=parts, node="review_answer"),
        "answer": partial(answer, parts=parts),
    }
    for name, node in nodes.items():
        builder.add_node(name, Node(node))
    # Models by name are looked up in files.
    by_name = parts.planner is None or parts.answerer is None
    builder.add_edge(START, "start")
    builder.add_conditional_edges("start", Router(after_start))
    builder.add_conditional_edges("plan", Router(after_plan), PLAN_EDGES)
    builder.add_conditional_edges("review_plan", Router(after_review_plan))
    builder.add_edge("retrieve", "to_triples")
    builder.add_edge("to_triples", "merge_graph")
    builder.add_conditional_edges("merge_graph", Router(after_merge, blocks=by_name))
    builder.add_conditional_edges("review_graph", Router(after_review_graph, blocks=by_name))
    builder.add_conditional_edges("encode", Router(after_encode))
    builder.add_conditional_edges("review_answer", Router(after_review_answer))
    builder.add_edge("answer", END)
    return builder


@contextmanager
def _of_an_edit() -> Iterator[None]:
    """Tell a wrong setting as a wrong input: the node before the routing would have found others.

    Of what an edit raises, LangGraph's server tells its clients only what is a ValueError.
    """
    try:
        yield
    except ConfigurationError as error:
        raise InputError(str(error)) from error


graph = build_graph().compile(name="ras")
