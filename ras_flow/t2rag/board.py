"""Where the clues of a run stand: computed from its state, never kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ras_flow.formats.normalize import name_key
from ras_flow.state.kg import spo_of
from ras_flow.t2rag.clues import Form, bind, chosen_fills, clue_id
from ras_flow.t2rag.records import Clue, Fill, Fills, Maker, Verdict
from ras_flow.t2rag.settings import T2Context

Status = Literal[
    "resolved", "supported", "contradicted", "searchable", "unchecked", "fuzzy", "dropped"
]
"""``unchecked`` is a claim of the question, or of a clue with bound slots, that no text was seen
to state; it is searched for like a ``searchable`` clue, which has one open field."""

SEARCHES = 2
"""Rounds that search for the same thing: the second reads on where the first ended."""


class Standing(NamedTuple):
    """A clue, what it says now and how far it is.

    Its last finding is ``by`` someone, in a ``round``; ``passages`` state it. So many ``searches``
    were made for what it says now.
    """

    id: str
    clue: Clue
    form: Form
    status: Status
    by: Maker | None
    round: int | None
    passages: Sequence[str]
    searches: int


@dataclass(frozen=True)
class Board:
    """All clues of a run in their order, and by slot the chosen fill and its value."""

    clues: list[Standing]
    chosen: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)

    def holds(self, fill: Fill) -> bool:
        """Tell whether a fill was found under values that are the chosen ones."""
        return self.chosen.items() >= fill["given"].items()

    def of(self, *status: Status) -> list[Standing]:
        """Return the clues that are so far."""
        return [one for one in self.clues if one.status in status]

    @property
    def open(self) -> list[Standing]:
        """What is not known yet."""
        return self.of("searchable", "unchecked", "fuzzy")

    @property
    def searchable(self) -> list[Standing]:
        """What can be searched for."""
        return self.of("searchable", "unchecked")

    @property
    def next(self) -> list[Standing]:
        """What the next round searches for."""
        return [one for one in self.searchable if one.searches < SEARCHES]

    @property
    def known(self) -> list[Standing]:
        """What was resolved or judged."""
        return self.of("resolved", "supported", "contradicted")


def survey(state: Mapping[str, Any], settings: T2Context) -> Board:
    """Work out where each clue stands, at whatever step."""
    fills: Fills = state.get("fills") or {}
    verdicts: Mapping[str, Verdict] = state.get("verdicts") or {}
    chosen = chosen_fills(fills, state.get("choices") or {})
    board = Board([], chosen, {slot: fills[id]["value"] for slot, id in chosen.items()})
    searched = Counter(
        pair
        for made in state.get("rounds") or ()
        if "reply" in made and "read" not in made
        for pair in zip(made["clues"], made["queries"], strict=False)
    )
    witnesses: dict[str, list[Fill]] = {}
    for id, fill in fills.items():
        value = board.values.get(fill["slot"], "")
        if name_key(value) == name_key(fill["value"]):
            if board.holds(fill) or id == chosen[fill["slot"]]:
                for found_by in fill["clues"]:
                    witnesses.setdefault(found_by, []).append(fill)
    for id, clue in (state.get("clues") or {}).items():
        form = bind(spo_of(clue), board.values)
        status: Status = form.kind
        found = witnesses.get(id, [])
        passages = [passage for fill in found for passage in fill["passages"]]
        last = max(found, key=lambda fill: fill["round"], default=None)
        by, at = (last["by"], last["round"]) if last else (None, None)
        searches = searched[id, form.query]
        if status == "resolved" and not found:
            if verdict := verdicts.get(clue_id(form.spo)):
                status, at, passages = verdict["verdict"], verdict["round"], verdict["passages"]
            elif settings.claims == "check":
                status = "unchecked"
        if status in ("searchable", "unchecked") and searches and settings.unresolved == "drop":
            status = "dropped"
        passages = list(dict.fromkeys(passages))
        board.clues.append(Standing(id, clue, form, status, by, at, passages, searches))
    return board
