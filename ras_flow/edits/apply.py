"""Edits applied to a state: what to write, and after which node the run goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ras_flow.edits.draft import BEGINNING, Draft
from ras_flow.edits.records import Edit
from ras_flow.errors import EditError
from ras_flow.systems import System


@dataclass(frozen=True)
class EditedState:
    """What edits come to.

    Attributes:
        values: The update of the state, for ``aupdate_state`` or as what a node returns.
        as_node: The node that the update counts as: the run goes on as after it.
        state: The whole state after the edits, for routing.
    """

    values: dict[str, Any]
    as_node: str
    state: Any


def apply_edits(system: System, state: Any, edits: Sequence[Edit], before: str) -> EditedState:
    """Work out what edits do to a state; later ones see what earlier ones did.

    An edited graph leads to the next node again; at the end of a run, to a new answer. ``before``
    is the node that comes next; ``""`` where the run is over.
    """
    point = system.edit_points.get(before)
    if not edits:
        return EditedState({}, point.as_node if point else before, state)
    if point is None:
        places = ", ".join(node or "the end" for node in system.edit_points) or "no step"
        raise EditError(
            f"This step comes before {before!r}, where a run of {system.name} cannot be edited. "
            f"Edit it before: {places}."
        )
    draft = Draft(state, before, system.context)
    for number, edit in enumerate(edits, 1):
        draft.at = f"Edit {number} ({edit['op']})"
        if edit["op"] not in point.allowed:
            draft.refuse(_not_here(edit["op"], before))
        system.operations[edit["op"]].apply(draft, edit)
    return EditedState(draft.values(), draft.as_node or point.as_node, draft.as_state())


def _not_here(op: str, before: str) -> str:
    if before in BEGINNING:
        return "nothing is known before the run's first step: edit the step after `start`."
    return (
        f"the run is about to {before}, where `{op}` has no effect: fork from the step before "
        "the hop's retrieval, or from the one after its merge."
    )
