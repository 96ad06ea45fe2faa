"""What a person may change in a run of T²RAG: its slots and clues, beside graph and models."""

from __future__ import annotations

from typing import Any, Literal, cast

from typing_extensions import TypedDict

from ras_flow.edits.draft import Draft, EditPoint, Operation
from ras_flow.edits.graph import GRAPH_EDITS, SHARED, drop_passage
from ras_flow.edits.records import JSON, DropPassage, Text
from ras_flow.formats.normalize import name_key
from ras_flow.formats.triples import clean_field
from ras_flow.state.kg import spo_of
from ras_flow.t2rag.board import survey
from ras_flow.t2rag.clues import bind, clue_id, fill_id, is_value, named, slots_of, tidied
from ras_flow.t2rag.events import show_clues, show_fills
from ras_flow.t2rag.formats.decomposition import MOST_CLUES
from ras_flow.t2rag.records import Clue, Fill, clue_of


@JSON
class SetSlot(TypedDict):
    """Fill a slot with a value of one's own, or choose one of those that were found for it."""

    op: Literal["fill", "choose"]
    slot: Text
    value: Text


@JSON
class UnfillSlot(TypedDict):
    """Empty a slot: its clues are open again."""

    op: Literal["unfill"]
    slot: Text


@JSON
class AddClue(TypedDict):
    """Add a clue, with ``?name`` for what is unknown."""

    op: Literal["add_clue"]
    subject: Text
    predicate: Text
    object: Text


@JSON
class DropClue(TypedDict):
    """Take out a clue, and the fills that no other clue found."""

    op: Literal["drop_clue"]
    clue: Text


def fill_slot(draft: Draft, edit: SetSlot) -> None:
    """Fill a slot by a person's word; what was found under another value no longer holds."""
    slot, value = _slot(draft, edit["slot"]), clean_field(edit["value"])
    if not is_value(value, [slot]):
        draft.refuse(f"{edit['value']!r:.100} cannot fill a slot: write a name, date or number.")
    clues = _own(draft, "clues").items()
    id = fill_id(slot, value, {})
    fill = Fill(
        slot=slot,
        value=value,
        given={},
        clues=[clue for clue, one in clues if slot in slots_of(spo_of(one))],
        triples=[],
        passages=[],
        round=len(draft.state["rounds"]),
        by="person",
        grounded=False,
    )
    draft.replaced["fills"] = {**_own(draft, "fills"), id: fill}
    draft.replaced["choices"] = {**_own(draft, "choices"), slot: id}


def choose_fill(draft: Draft, edit: SetSlot) -> None:
    """Choose a value that was found."""
    slot, wanted = _slot(draft, edit["slot"]), name_key(edit["value"])
    found = {id: one["value"] for id, one in _own(draft, "fills").items() if one["slot"] == slot}
    same = [id for id, value in found.items() if name_key(value) == wanted]
    if not same:
        values = ", ".join(map(repr, found.values())) or "nothing"
        draft.refuse(f"{slot} was not filled with {edit['value']!r:.100} but with {values}.")
    draft.replaced["choices"] = {**_own(draft, "choices"), slot: same[0]}


def unfill_slot(draft: Draft, edit: UnfillSlot) -> None:
    """Take all values of a slot away."""
    slot, fills = _slot(draft, edit["slot"]), _own(draft, "fills")
    kept = {id: one for id, one in fills.items() if one["slot"] != slot}
    if len(kept) == len(fills):
        draft.refuse(f"{slot} is empty at this step.")
    draft.replaced["fills"] = kept
    chosen = {one: id for one, id in _own(draft, "choices").items() if one != slot}
    draft.replaced["choices"] = chosen


def add_clue(draft: Draft, edit: AddClue) -> None:
    """Add a clue to search for."""
    clues: dict[str, Clue] = _own(draft, "clues")
    fields = tidied(draft.fields(edit))
    [spo] = named([fields], {slot for one in clues.values() for slot in slots_of(spo_of(one))})
    if not bind(spo, {}).query:
        draft.refuse("nothing in this clue is known: write a name or a relation.")
    if clue_id(spo) in clues:
        draft.refuse("the run has this clue already.")
    if len(clues) >= 2 * MOST_CLUES:
        draft.refuse(f"the run has {len(clues)} clues, the most that it takes: drop one first.")
    clue = clue_of(spo, "person", len(draft.state["rounds"]))
    draft.replaced["clues"] = {**clues, clue_id(spo): clue}


def drop_clue(draft: Draft, edit: DropClue) -> None:
    """Take a clue out."""
    clues = _own(draft, "clues")
    meant = [id for id in clues if id.startswith(edit["clue"])]
    if len(meant) != 1:
        draft.refuse(
            f"{len(meant)} clues have an id that begins with {edit['clue']!r:.100}: name one of "
            f"{', '.join(clues)}."
        )
    draft.replaced["clues"] = {id: one for id, one in clues.items() if id != meant[0]}
    draft.replaced["fills"] = _without(draft, "clues", meant[0])


def drop_passage_and_fills(draft: Draft, edit: DropPassage) -> None:
    """Take out a passage, and what only it states."""
    drop_passage(draft, edit)
    id = edit["passage"]
    draft.replaced["fills"] = _without(draft, "passages", id)
    draft.replaced["verdicts"] = {
        claim: one
        for claim, verdict in _own(draft, "verdicts").items()
        if (one := {**verdict, "passages": [p for p in verdict["passages"] if p != id]})["passages"]
    }


def shown_clues(state: Any, settings: Any) -> dict[str, Any]:
    """Return what a person who reviews a run sees of its clues."""
    board = survey(state, settings)
    return {"clues": show_clues(board), "fills": show_fills(state["fills"], board)}


def shown_next(state: Any, settings: Any) -> dict[str, Any]:
    """Return the same, with what is searched for next."""
    queries = [one.form.query for one in survey(state, settings).next]
    return {**shown_clues(state, settings), "subquery": "\n".join(queries or [state["question"]])}


def _slot(draft: Draft, written: str) -> str:
    """Return a slot of the run by what a person wrote, with "?" or without."""
    slot = f"?{written.strip().lstrip('?').casefold()}"
    known = {one: None for clue in _own(draft, "clues").values() for one in slots_of(spo_of(clue))}
    if slot not in known:
        draft.refuse(f"the run has no slot {slot}; it has {', '.join(known) or 'none'}.")
    return slot


def _own(draft: Draft, channel: str) -> Any:
    return draft.as_state().get(channel) or {}


def _without(draft: Draft, part: Literal["clues", "passages"], gone: str) -> dict[str, Fill]:
    """Return the fills without a piece of evidence, those left out that rested on it alone."""
    kept: dict[str, Fill] = {}
    for id, fill in _own(draft, "fills").items():
        left = [one for one in fill[part] if one != gone]
        if left or not fill[part] or fill["by"] == "person":
            less: dict[str, Any] = {**fill, part: left}
            kept[id] = cast(Fill, less)
    return kept


OPERATIONS = {
    **SHARED,
    "drop_passage": Operation(DropPassage, drop_passage_and_fills),
    "fill": Operation(SetSlot, fill_slot),
    "choose": Operation(SetSlot, choose_fill),
    "unfill": Operation(UnfillSlot, unfill_slot),
    "add_clue": Operation(AddClue, add_clue),
    "drop_clue": Operation(DropClue, drop_clue),
}
"""T²RAG's edits by ``op``."""

_SLOTS = ("fill", "choose", "unfill", "add_clue", "drop_clue", "model")
_ALL = (*GRAPH_EDITS, *_SLOTS)

EDIT_POINTS = {
    "__start__": EditPoint((), "__start__"),
    "start": EditPoint(("model",), "__start__"),
    "decompose": EditPoint(("model",), "start"),
    "retrieve": EditPoint(_ALL, "review_plan"),
    "resolve": EditPoint(_ALL, "retrieve"),
    **{name: EditPoint(_ALL, name) for name in ("review_plan", "review_graph", "review_answer")},
    **dict.fromkeys(("answer", ""), EditPoint(_ALL, "review_answer")),
}
"""Before each node. Edits count as reviewed: nobody is asked about them again."""
