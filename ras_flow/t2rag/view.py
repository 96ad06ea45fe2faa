"""What the answerer reads of a run, and what supports its answer first."""

from __future__ import annotations

from typing import Any

from ras_flow.formats.triples import Spo
from ras_flow.state.kg import spo_of, triple_id, triple_of
from ras_flow.state.schema import Hop, Triple
from ras_flow.t2rag.board import Board, Standing, survey
from ras_flow.t2rag.clues import bind
from ras_flow.t2rag.formats.decomposition import format_clue
from ras_flow.t2rag.settings import T2Context


def answerer_reads(state: Any, settings: T2Context) -> Any:
    """Return the state as the answerer is to see it: a hop for each clue, never fuzzy ones.

    What is known comes with its fact, and with the alternatives that the same clue found; what is
    open comes without any. A run that came to know nothing shows what its searches found.
    """
    board = survey(state, settings)
    if not board.known:
        return _found(state)
    hops: list[Hop] = []
    triples: dict[str, Triple] = {}
    for one in [*board.known, *board.searchable]:
        mark = f"clue:{one.id}"  # Each fact belongs to the hop of its clue alone.
        ids, subquery = [mark, *one.passages], " ".join(spo_of(one.clue))
        hop = Hop(index=len(hops), subquery=subquery, passages=ids, scores=[1.0] * len(ids))
        hops.append(hop)
        for spo in _said(one, board, state, settings):
            triples.setdefault(triple_id(*spo), triple_of(spo, [mark]))
    return {**state, "hops": hops, "triples": triples}


def supporting(state: Any, settings: T2Context) -> list[str]:
    """Return the facts and passages behind what the run came to know."""
    board = survey(state, settings)
    facts = [triple_id(*one.form.spo) for one in board.known]
    verdicts = [id for one in board.known if one.status == "contradicted" for id in one.passages]
    return [id for id in facts if id in state["triples"]] + verdicts


def doubts(state: Any, settings: T2Context) -> str:
    """Name a fact of the question that no search found, or a fill that no text states."""
    board = survey(state, settings)
    for one in board.open:
        if one.clue["origin"] == "question":
            return f"Not found: {format_clue(one.form.spo)}."
    for slot, id in board.chosen.items():
        fill = state["fills"][id]
        if fill["by"] == "model" and not fill["grounded"]:
            return f'No text states "{fill["value"]}", which the resolver filled in for {slot}.'
    return ""


def _said(one: Standing, board: Board, state: Any, settings: T2Context) -> list[Spo]:
    subject, predicate, object = one.form.spo
    if one.status == "contradicted":
        return [(subject, f"not {predicate}", object)]
    if one.status not in ("resolved", "supported"):
        return []
    said = [one.form.spo]
    for id, fill in state["fills"].items():
        slot = fill["slot"]
        if one.id in fill["clues"] and board.holds(fill) and id != board.chosen.get(slot):
            said.append(bind(spo_of(one.clue), {**board.values, slot: fill["value"]}).spo)
    return list(dict.fromkeys(said))[: settings.alternatives]


def _found(state: Any) -> Any:
    """Return the state with what each search found first: later ones leave that out."""
    first = {hop["subquery"]: hop["index"] for hop in reversed(state["hops"])}
    hops = [state["hops"][index] for index in sorted(first.values())]
    rounds = [made for made in state["rounds"] if made["index"] in first.values()]
    found = {id for made in rounds for id in made["found"]}
    triples = {id: one for id, one in state["triples"].items() if id in found}
    numbered = [{**hop, "index": index} for index, hop in enumerate(hops)]
    return {**state, "hops": numbered, "triples": triples}
