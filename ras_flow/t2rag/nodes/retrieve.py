"""retrieve: the propositions nearest to what clues say, and their passages (algorithm 2)."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import passages_event
from ras_flow.nodes.warn import warn
from ras_flow.parts.checks import storable
from ras_flow.parts.records import ScoredPassage, TripleQuery
from ras_flow.parts.source import PartsSource
from ras_flow.parts.tracing import traced_retrieval
from ras_flow.state.kg import dropped_in, passage_in, spo_of, triple_id, triple_of
from ras_flow.state.schema import Hop, Passage, Triple
from ras_flow.state.usage import Cost
from ras_flow.t2rag.board import survey
from ras_flow.t2rag.events import PropositionsEvent, show_propositions
from ras_flow.t2rag.parts import reading_of
from ras_flow.t2rag.records import Round
from ras_flow.t2rag.settings import T2Context
from ras_flow.t2rag.state import T2State


async def retrieve(state: T2State, runtime: Runtime[Any], parts: PartsSource) -> dict[str, Any]:
    """Open a round with what is found for all clues that can be searched for.

    Where no clue is searched for the first time, the question itself is searched for too, once.
    Given documents are ranked in the first round, in place of a search.
    """
    context: Any = parts.context(state, runtime)
    index = len(state["rounds"])
    given = _given(state, index)
    searched = survey(state, context).next
    asked = any(made.get("fallback") for made in state["rounds"])
    fallback = not searched or not (asked or any(one.searches == 0 for one in searched))
    pairs = [(one.id, one.form.query) for one in searched]
    queries = [TripleQuery(pair[1], _read(state, pair)) for pair in pairs]
    if fallback:
        queries.append(TripleQuery(" ".join(state["question"].split()), _read(state)))
    cost, extracting = Cost("retriever", f"retrieve:{index}"), Cost("extractor", f"extract:{index}")
    retriever = await parts.get_triple_retriever(context, runtime.store, given)
    resolver = await parts.get_model("resolver", context)
    k = context.top_k or reading_of(resolver).top_k
    texts = [query.text for query in queries]
    async with traced_retrieval(
        type(retriever).__name__, "\n".join(texts), identity=retriever.identity
    ) as traced:
        found = await retriever.find(queries, k)
        ids: dict[str, str] = {}
        best: dict[str, ScoredPassage] = {}
        for scored in found.passages:
            kept = storable(scored, retriever)
            ids[scored.passage["id"]] = kept.passage["id"]
            best.setdefault(kept.passage["id"], kept)
        traced += best.values()
    usage = cost.usage()
    for extraction in found.extractions:
        extracting.add(extraction, extraction.calls)
        usage |= extracting.usage()
    triples: dict[str, Triple] = {}
    for one in found.triples:
        stated_in = [ids.get(id, id) for id in one.triple["passages"]]
        triple = triple_of(spo_of(one.triple), list(dict.fromkeys(stated_in)))
        triples.setdefault(triple_id(*spo_of(triple)), triple)
    clues = [one.id for one in searched]
    made = Round(index=index, queries=texts, clues=clues, found=list(triples))
    if fallback:
        made["fallback"] = True
    passages = {id: scored.passage for id, scored in best.items()}
    update: dict[str, Any] = {"rounds": [made], "triples": triples, "usage": usage}
    if given is None:
        subquery, scores = "\n".join(texts), [scored.score for scored in best.values()]
        hop = Hop(index=index, subquery=subquery, passages=list(passages), scores=scores)
        runtime.stream_writer(passages_event(hop, passages))
        update |= {"hops": [hop], "passages": passages}
    else:
        made["read"] = list(passages)
    runtime.stream_writer(
        PropositionsEvent(
            type="propositions",
            hop=index,
            queries=texts,
            fallback=fallback,
            propositions=show_propositions(texts, found.triples),
        )
    )
    return {**update, **warn(runtime, *found.warnings)}


async def open_triples(parts: PartsSource, context: T2Context) -> None:
    """Open what rounds search, before any model is asked."""
    await parts.get_triple_retriever(context, None)


def _given(state: T2State, index: int) -> list[Passage] | None:
    """Return the documents that a run was given and has not read; None for a search."""
    if len(state["hops"]) <= index:
        return None
    hop = state["hops"][index]
    return [passage_in(hop, state["passages"], id) for id in hop["passages"]]


def _read(state: T2State, asked: tuple[str, str] | None = None) -> frozenset[str]:
    """Return the passages read so far, or for a clue's query, and those that a person dropped."""
    return dropped_in(state["hops"]).union(
        id
        for made in state["rounds"]
        if asked is None or asked in zip(made["clues"], made["queries"], strict=False)
        for id in made.get("read", state["hops"][made["index"]]["passages"])
    )
