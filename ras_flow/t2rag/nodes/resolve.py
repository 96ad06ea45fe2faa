"""resolve: fill slots from what a round found, and judge claims (paper 4.3, step 2.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from langgraph.runtime import Runtime

from ras_flow.errors import InputError, ModelUnavailableError
from ras_flow.formats.hop_reply import Fact
from ras_flow.formats.text import scrub
from ras_flow.nodes.warn import loss_of, warn
from ras_flow.parts.records import Reply
from ras_flow.parts.source import PartsSource
from ras_flow.state.kg import merge_triples, spo_of, triple_id, triple_of
from ras_flow.state.schema import Triple
from ras_flow.state.usage import Cost
from ras_flow.t2rag.board import Board, survey
from ras_flow.t2rag.events import CluesEvent, FillsEvent, show_clues, show_fills
from ras_flow.t2rag.formats.resolution import ResolveRequest, parse_resolution
from ras_flow.t2rag.nodes.decompose import LONGEST_REPLY
from ras_flow.t2rag.parts import answer_form, resolve_round, texts_of
from ras_flow.t2rag.reading import Seen, read_reply
from ras_flow.t2rag.routing import seen_by
from ras_flow.t2rag.settings import T2Context
from ras_flow.t2rag.state import T2State, merge_clues, merge_fills


async def resolve(state: T2State, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Ask what the round's passages and propositions tell of the open clues.

    Nothing is asked where nothing was found or nothing is open.
    """
    context: Any = parts.context(state, runtime)
    seen = _seen(state, context)
    index = seen.round
    cost = Cost("resolver", f"resolve:{index}")
    reply, problem, warnings = Reply("", calls=0), "", []
    if seen.asked and seen.passages:
        try:
            model = await parts.get_model("resolver", context)
            seen = replace(seen, texts=texts_of(model, context.read_passages))
            form = answer_form(model, await parts.get_answerer(context), context)
            reply = await resolve_round(model, _request(state, seen), form)
        except ModelUnavailableError as error:
            if not index:
                raise
            problem = scrub(str(error))
            warnings.append(f"The resolver failed in round {index + 1}: {problem}")
    cost.add(reply, reply.calls)
    resolution = parse_resolution(reply.text)
    read = read_reply(resolution, seen, context.alternatives)
    after: Any = {
        **state,
        "clues": merge_clues(state["clues"], read.clues),
        "fills": merge_fills(state["fills"], read.fills),
        "verdicts": {**state["verdicts"], **read.verdicts},
        "rounds": [*state["rounds"][:-1], {**state["rounds"][-1], "reply": ""}],
    }
    board = survey(after, context)
    told = {"index": index, "reply": scrub(reply.text[:LONGEST_REPLY])}
    if problem:
        told["error"] = problem
    triples = _facts(seen.board, board)
    after["triples"] = merge_triples(state["triples"], triples)
    if resolution.answer and board.clues and not board.open:
        told["saw"] = seen_by(after, context)
    fills, left = show_fills(read.fills, board), len(board.open)
    event = FillsEvent(type="fills", hop=index, fills=fills, verdicts=read.verdicts, open=left)
    runtime.stream_writer(event)
    if (clues := show_clues(board)) != show_clues(seen.board):
        runtime.stream_writer(CluesEvent(type="clues", hop=index + 1, clues=clues))
    warnings += loss_of("resolver", reply)
    warnings += [
        f"No passage of round {index + 1} states {one['value']!r}, which the resolver filled in "
        f"for {one['slot']}."
        for one in read.fills.values()
        if not one["grounded"]
    ]
    update = {**vars(read), "rounds": [told], "triples": triples, "usage": cost.usage()}
    return {**update, **warn(runtime, *warnings)}


def _seen(state: T2State, context: T2Context) -> Seen:
    if not state["rounds"] or not state["hops"]:
        raise InputError(
            "The state has no round to resolve: go on from an earlier step, or ask the question "
            "anew if earlier checkpoints were pruned."
        )
    made, known = state["rounds"][-1], state["passages"]
    read = made.get("read", state["hops"][made["index"]]["passages"])
    passages = {id: known[id] for id in read if id in known}
    triples = {id: state["triples"][id] for id in made["found"] if id in state["triples"]}
    board = survey(state, context)
    return Seen(made["index"], board, board.open, passages, triples, context.read_passages)


def _request(state: T2State, seen: Seen) -> ResolveRequest:
    numbers = {id: number for number, id in enumerate(seen.passages, 1)}
    propositions = [
        Fact(spo_of(one), [numbers[id] for id in one["passages"] if id in numbers])
        for one in seen.triples.values()
    ]
    return ResolveRequest(
        question=state["question"],
        clues=[one.form.spo for one in seen.asked],
        passages=list(seen.passages.values()),
        propositions=propositions,
        resolved=[one.form.spo for one in seen.board.known if one.status != "contradicted"],
        texts=seen.texts,
    )


def _facts(before: Board, after: Board) -> dict[str, Triple]:
    """Return the clues that a round resolved, and passages state, as triples of the graph."""
    known = {one.form.spo for one in before.known}
    return {
        triple_id(*one.form.spo): triple_of(one.form.spo, one.passages)
        for one in after.known
        if one.passages and one.status != "contradicted" and one.form.spo not in known
    }
