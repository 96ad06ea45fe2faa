"""What planner and answerer see of the state."""

from __future__ import annotations

from collections.abc import Sequence

from ras_flow.errors import InputError
from ras_flow.parts.checks import reading_of
from ras_flow.parts.protocols import Answerer, Planner
from ras_flow.parts.records import AttributedGraph, ChainLink
from ras_flow.parts.source import PartsSource
from ras_flow.settings.context import Context
from ras_flow.state.channels import RunState
from ras_flow.state.kg import by_hop, found_only_known
from ras_flow.state.schema import Passage, Triple
from ras_flow.support.concurrency import off_loop


async def view(
    state: RunState,
    context: Context,
    parts: PartsSource,
    reader: Planner | Answerer,
    texts: Sequence[Sequence[Passage]],
) -> tuple[list[ChainLink], AttributedGraph | None]:
    """Return what planner or answerer reads: subquery chain, and for soft tokens the graph.

    ``texts`` are the passages of each hop that are read as text.
    """
    if not state["hops"] and state.get("encodes") is not None:  # The first merge told it.
        raise InputError(
            "The state has lost its hops, which earlier checkpoints held: ask the question anew, "
            "and prune only threads whose runs are finished."
        )
    triples = await visible_triples(state, context, parts, reader)
    chain = await off_loop(len(triples), _chain, state, triples, texts)
    if not reader.takes_soft_tokens:
        return chain, None
    return chain, await parts.attribute(triples, state["hops"], context)


async def visible_triples(
    state: RunState, context: Context, parts: PartsSource, reader: Planner | Answerer
) -> dict[str, Triple]:
    """Return the triples that planner or answerer reads: all, or those nearest to each subquery."""
    most = reading_of(reader).max_triples if context.max_triples is None else context.max_triples
    if most is None:
        return state["triples"]
    return await parts.nearest(state["triples"], state["hops"], most, context)


def passages_read(
    state: RunState, context: Context, parts: PartsSource, answerer: Answerer | None
) -> list[list[Passage]]:
    """Return the passages of each hop that are read as text, best first.

    A planner (``answerer`` is None) reads triples alone, unless passages are kept as text. What a
    page of a knowledge graph states is read as triples. With one call a hop, facts are noted only
    of passages that seem to matter, so a model that reads some passages reads a whole search's.
    """
    most: int | None = context.answer_passages
    if parts.keeps_text(context):
        most = None
    elif answerer is None:
        most = 0
    elif most is None:
        reading = reading_of(answerer)
        one_call = parts.loop(context) == "one_call"
        most = reading.answer_passages and (reading.top_k if one_call else reading.answer_passages)
    texts = {id: one for id, one in state["passages"].items() if "triples" not in one}
    return [[texts[id] for id in hop["passages"] if id in texts][:most] for hop in state["hops"]]


def _chain(
    state: RunState, read: dict[str, Triple], texts: Sequence[Sequence[Passage]]
) -> list[ChainLink]:
    return [
        ChainLink(hop["subquery"], [read[id] for id in ids], passages, found_only_known(hop))
        for hop, ids, passages in zip(
            state["hops"], by_hop(read, state["hops"]), texts, strict=True
        )
    ]
