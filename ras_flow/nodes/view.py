"""What planner and answerer see of the state."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from langgraph.runtime import Runtime

from ras_flow.errors import InputError
from ras_flow.events import WarningEvent
from ras_flow.graph_llm.attributes import attribute_graph
from ras_flow.graph_llm.nearest import nearest_triples
from ras_flow.parts.chosen import Parts
from ras_flow.parts.protocols import Answerer, Planner, reading_of
from ras_flow.parts.records import AttributedGraph, ChainLink, Reply
from ras_flow.routing import decide
from ras_flow.settings.context import Context
from ras_flow.state.channels import RasState
from ras_flow.state.kg import QueryKG, by_hop
from ras_flow.state.schema import Passage, Triple


def check_hop(state: RasState) -> None:
    """Refuse a state that was edited so that there is no hop to work on."""
    if not state["hops"]:
        raise InputError(
            "The state has no hop whose triples could be found: give its `hops` one, or go on from "
            "an earlier step."
        )


class View(NamedTuple):
    """What planner and answerer read.

    Attributes:
        chain: The subquery chain [q_0, g_0, …, q_i, g_i] with entities' best surface forms; with
            the passages of each hop that are read as text.
        graph: The attributed graph; None for models that take no soft tokens.
    """

    chain: list[ChainLink]
    graph: AttributedGraph | None


async def view(
    state: RasState,
    context: Context,
    parts: Parts,
    reader: Planner | Answerer,
    texts: list[list[Passage]],
) -> View:
    """Return what planner or answerer reads of the state."""
    triples = await in_view(state, context, parts, reader)
    return View(
        await asyncio.to_thread(_chain, state, triples, texts),
        await _attribute(state, triples, context, parts) if reader.takes_soft_tokens else None,
    )


async def encoding(state: RasState, context: Context, parts: Parts) -> AttributedGraph:
    """Return the attributed graph that is read next; no text of it is embedded again."""
    reader: Planner | Answerer | None = None
    if decide(state, context).step != "answer":
        reader = await parts.get_planner(context)
    if reader is None or not reader.takes_soft_tokens:
        reader = await parts.get_answerer(context)
    triples = await in_view(state, context, parts, reader)
    return await _attribute(state, triples, context, parts)


async def in_view(
    state: RasState, context: Context, parts: Parts, reader: Planner | Answerer
) -> dict[str, Triple]:
    """Return the triples that planner or answerer reads: all, or those nearest to each subquery."""
    most = reading_of(reader).max_triples if context.max_triples is None else context.max_triples
    if most is None:
        return state["triples"]
    encoder = await parts.get_encoder(context)
    return await nearest_triples(state["triples"], state["hops"], encoder, most)


def texts_read(
    state: RasState, context: Context, parts: Parts, answerer: Answerer | None
) -> list[list[Passage]]:
    """Return the passages of each hop that are read as text, best first."""
    most: int | None = context.answer_passages
    if parts.keeps_text(context):
        most = None
    elif answerer is None:
        most = 0
    elif most is None:
        most = reading_of(answerer).answer_passages
    passages = state["passages"]
    return [
        [passages[id] for id in hop["passages"] if id in passages][:most] for hop in state["hops"]
    ]


def _chain(state: RasState, read: dict[str, Triple], texts: list[list[Passage]]) -> list[ChainLink]:
    triples = QueryKG.from_triples(read).triples
    return [
        ChainLink(hop["subquery"], [triples[id] for id in ids], passages)
        for hop, ids, passages in zip(
            state["hops"], by_hop(triples, state["hops"]), texts, strict=True
        )
    ]


async def _attribute(
    state: RasState, read: dict[str, Triple], context: Context, parts: Parts
) -> AttributedGraph:
    return await attribute_graph(read, state["hops"], await parts.get_encoder(context))


def reads_encoding(state: RasState, context: Context, parts: Parts) -> bool:
    """Tell whether a model that is still to be asked takes soft tokens.

    Nodes call this before the routing after them does: to LangGraph a step whose routing fails is
    done, and a run that is resumed there would end without an answer.
    """
    return parts.takes_soft_tokens(context, plans=decide(state, context).step != "answer")


def report_loss(runtime: Runtime[Context], role: str, reply: Reply) -> list[str]:
    """Warn of triples, or of passages kept as text, that did not fit into the model's window."""
    if not reply.lost_triples:
        return []
    message = (
        f"{reply.lost_triples} triple(s) or passage(s) did not fit into the {role}'s window and "
        "were left out or shortened."
    )
    runtime.stream_writer(WarningEvent(type="warning", message=message))
    return [message]


def report_end(runtime: Runtime[Context], role: str, text: str, reply: Reply) -> list[str]:
    """Warn of an answer that is empty, or that ends where its writer had to stop."""
    if not text:
        message = f"The {role} wrote nothing: there is no answer."
    elif reply.truncated:
        message = f"The answer ends where the {role} came to its limit of new tokens."
    else:
        return []
    runtime.stream_writer(WarningEvent(type="warning", message=message))
    return [message]


def warned(warnings: list[str]) -> dict[str, list[str]]:
    """Return the update that adds warnings: nothing for none, to keep checkpoints small."""
    return {"warnings": warnings} if warnings else {}
