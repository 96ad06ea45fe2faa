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

OPEN = ("searchable", "unchecked", "fuzzy")

SEARCHES = 2
"""Rounds that search for the same thing: the second reads on where the first ended."""


class Standing(NamedTuple):
    """A clue, what it says now and how far it is.

    Attributes:
        id: Its id.
        clue: As it was written.
        form: As it is with the chosen values.
        status: How far it is.
        by: Who found that last, if it is known.
        round: In which round.
        passages: What states it.
        searches: Rounds that searched for what it says now.
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
    """All clues of a run.

    Attributes:
        clues: They, in the order in which they came.
        chosen: The chosen fill of each slot that has one.
        values: Its value.
    """

    clues: list[Standing]
    chosen: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)

    def holds(self, fill: Fill) -> bool:
        """Tell whether a fill was found under values that are the chosen ones."""
        return self.chosen.items() >= fill["given"].items()

    @property
    def open(self) -> list[Standing]:
        """What is not known yet."""
        return [one for one in self.clues if one.status in OPEN]

    @property
    def searchable(self) -> list[Standing]:
        """What can be searched for."""
        return [one for one in self.clues if one.status in ("searchable", "unchecked")]

    @property
    def next(self) -> list[Standing]:
        """What the next round searches for."""
        return [one for one in self.searchable if one.searches < SEARCHES]

    @property
    def known(self) -> list[Standing]:
        """What was resolved or judged."""
        return [
            one for one in self.clues if one.status in ("resolved", "supported", "contradicted")
        ]


def survey(state: Mapping[str, Any], settings: T2Context) -> Board:
    """Work out where each clue stands, at whatever step."""
    fills: Fills = state.get("fills") or {}
    verdicts: Mapping[str, Verdict] = state.get("verdicts") or {}
    chosen = chosen_fills(fills, state.get("choices") or {})
    values = {slot: fills[id]["value"] for slot, id in chosen.items()}
    searched = Counter(
        pair
        for made in state.get("rounds") or ()
        if "reply" in made and "read" not in made
        for pair in zip(made["clues"], made["queries"], strict=False)
    )
    witnesses: dict[str, list[Fill]] = {}
    for fill in fills.values():
        best = chosen.get(fill["slot"])
        holds = chosen.items() >= fill["given"].items() or fill is fills.get(best or "")
        if best and holds and name_key(values[fill["slot"]]) == name_key(fill["value"]):
            for clue_of in fill["clues"]:
                witnesses.setdefault(clue_of, []).append(fill)
    standings = []
    for id, clue in (state.get("clues") or {}).items():
        form = bind(spo_of(clue), values)
        status: Status = form.kind
        passages = [passage for fill in witnesses.get(id, ()) for passage in fill["passages"]]
        last = max(witnesses.get(id, ()), key=lambda fill: fill["round"], default=None)
        by, found = (last["by"], last["round"]) if last else (None, None)
        if status == "resolved" and last is None:
            if verdict := verdicts.get(clue_id(form.spo)):
                status, found, passages = verdict["verdict"], verdict["round"], verdict["passages"]
                by = "model"
            elif settings.claims == "check":
                status = "unchecked"
        searches = searched[id, form.query]
        if status in ("searchable", "unchecked") and searches and settings.unresolved == "drop":
            status = "dropped"
        states = list(dict.fromkeys(passages))
        standings.append(Standing(id, clue, form, status, by, found, states, searches))
    return Board(standings, chosen, values)
