"""retrieve: the propositions nearest to what clues say, and their passages (algorithm 2)."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from ras_flow.events import passages_event
from ras_flow.nodes.warn import warn
from ras_flow.parts.checks import storable
from ras_flow.parts.records import FoundTriples, TripleQuery
from ras_flow.parts.source import PartsSource
from ras_flow.parts.tracing import traced_retrieval
from ras_flow.state.kg import dropped_in, passage_in, spo_of, triple_id
from ras_flow.state.schema import Hop, Passage, Triple
from ras_flow.state.usage import Cost
from ras_flow.t2rag.board import survey
from ras_flow.t2rag.events import PropositionsEvent, show_propositions
from ras_flow.t2rag.parts import reading_of
from ras_flow.t2rag.settings import T2Context
from ras_flow.t2rag.state import Round, T2State


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
    queries = [
        TripleQuery(one.form.query, _skipped(state, one.id, one.form.query)) for one in searched
    ]
    if fallback:
        read = [id for made in state["rounds"] for id in _read(state, made)]
        skip = dropped_in(state["hops"]).union(read)
        queries.append(TripleQuery(" ".join(state["question"].split()), skip))
    cost = Cost("retriever", f"retrieve:{index}")
    retriever = await parts.get_triple_retriever(context, runtime.store, given)
    resolver = await parts.get_model("resolver", context)
    k = context.top_k or reading_of(resolver).top_k
    texts = [query.text for query in queries]
    async with traced_retrieval(
        type(retriever).__name__, "\n".join(texts), identity=retriever.identity
    ) as traced:
        found = await retriever.find(queries, k)
        ids = {}
        for scored in found.passages:
            kept = storable(scored, retriever)
            ids[scored.passage["id"]] = kept.passage["id"]
            traced.append(kept)
    usage = cost.usage() | _extraction(found, index)
    triples = _triples(found, ids)
    made = Round(
        index=index,
        queries=texts,
        clues=[one.id for one in searched],
        found=list(triples),
    )
    if fallback:
        made["fallback"] = True
    passages = {scored.passage["id"]: scored.passage for scored in traced}
    update: dict[str, Any] = {"rounds": [made], "triples": triples, "usage": usage}
    if given is None:
        hop = Hop(
            index=index,
            subquery="\n".join(texts),
            passages=list(passages),
            scores=[scored.score for scored in traced],
        )
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


def _skipped(state: T2State, clue: str, query: str) -> frozenset[str]:
    """Return the passages that a clue's query has read, and those that a person dropped."""
    read = {
        id
        for made in state["rounds"]
        if (clue, query) in zip(made["clues"], made["queries"], strict=False)
        for id in _read(state, made)
    }
    return frozenset(read) | dropped_in(state["hops"])


def _read(state: T2State, made: Round) -> list[str]:
    return made.get("read", state["hops"][made["index"]]["passages"])


def _triples(found: FoundTriples, ids: dict[str, str]) -> dict[str, Triple]:
    """Return what was found as the state keeps it, best first."""
    triples: dict[str, Triple] = {}
    for scored in found.triples:
        passages = [ids.get(id, id) for id in scored.triple["passages"]]
        triples.setdefault(
            triple_id(*spo_of(scored.triple)), {**scored.triple, "passages": passages}
        )
    return triples


def _extraction(found: FoundTriples, index: int) -> dict[str, Any]:
    cost = Cost("extractor", f"extract:{index}")
    for made in found.extractions:
        cost.add(made, made.calls)
    usage = cost.usage()
    return usage if any(use["calls"] for use in usage.values()) else {}
