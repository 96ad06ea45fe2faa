"""What people are shown of a run's clues and slots, on a terminal and on the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ras_flow.events import PlanEvent
from ras_flow.formats.triples import Spo
from ras_flow.state.evidence import Reader
from ras_flow.state.kg import spo_of, triple_of
from ras_flow.state.schema import Passage, name_passages
from ras_flow.systems import Section
from ras_flow.t2rag import events
from ras_flow.t2rag.board import Board, survey
from ras_flow.t2rag.clues import bind
from ras_flow.t2rag.events import show_clues, show_fills
from ras_flow.t2rag.settings import T2Context

PROPOSITIONS = 12
"""Propositions of a round that are shown."""

PLAN = 300
"""Characters of an unusable decomposition that are shown."""


def tell_plan(event: PlanEvent) -> Section:
    """Show a decomposition that cannot be used; the clues are shown from a usable one."""
    if event["label"] is not None:
        return Section("", [])
    wrote = " / ".join(event["raw"].split("\n"))[:PLAN]
    return Section("Plan", [f"not usable: {event.get('problem', '')}", f"it was: {wrote}"])


def tell_clues(event: events.CluesEvent) -> Section:
    """Show where the clues stand."""
    return Section("Clues", list(map(_standing, event["clues"])))


def tell_propositions(event: events.PropositionsEvent) -> Section:
    """Show what a round found."""
    found = [f"{one['score']:.2f}  {one['text']}" for one in event["propositions"]]
    more = [f"and {len(found) - PROPOSITIONS} more"] if len(found) > PROPOSITIONS else []
    return Section("Found", [*found[:PROPOSITIONS], *more] or ["nothing"])


def tell_fills(event: events.FillsEvent) -> Section:
    """Show what a round filled."""
    judged = [f"a claim is {one['verdict']}" for one in event["verdicts"].values()]
    filled = [_fill(one, "") for one in event["fills"]]
    count = event["open"]
    left = f"{count} {'clue' if count == 1 else 'clues'} left" if count else "every clue resolved"
    return Section("Filled", [*(filled + judged or ["nothing"]), left])


def _board(state: Mapping[str, Any]) -> Board:
    """Return where the clues of a stored state stand."""
    return survey(state, T2Context.from_mapping(state.get("context") or {}))


def open_clues(state: Mapping[str, Any]) -> list[Spo]:
    """Return what the run does not know yet."""
    return [one.form.spo for one in _board(state).open]


def sections(state: Mapping[str, Any]) -> Sequence[Section]:
    """Return where a run's clues stand, and what fills its slots, with sentences."""
    board = _board(state)
    clues = {one.id: one.clue for one in board.clues}
    passages: Mapping[str, Passage] = state.get("passages") or {}
    reader = Reader(passages)

    def sentence(fill: events.ShownFill) -> str:
        clue = clues.get(next(iter(fill["clues"]), ""))
        known = [id for id in fill["passages"] if id in passages]
        if clue is None or not known:
            return ""
        spo = bind(spo_of(clue), {**board.values, fill["slot"]: fill["value"]}).spo
        cited = reader.cite("", triple_of(spo, known))["sentence"]
        return f'[{name_passages(known, passages)}] "{cited}"'

    shown = show_fills(state.get("fills") or {}, board)
    shown.sort(key=lambda one: (one["slot"], not one["chosen"]))
    found = [
        Section("Clues", [f"{_standing(one)}  ({one['id']})" for one in show_clues(board)]),
        Section("Slots", [_fill(one, sentence(one)) for one in shown]),
    ]
    return [section for section in found if section.lines]


def _standing(clue: events.ShownClue) -> str:
    said = f" → {clue['says']}" if clue["says"] != clue["clue"] else ""
    found = f" in round {clue['round'] + 1}" if clue["round"] is not None else ""
    found = " by a person" if clue["by"] == "person" else found
    return f"{clue['status']}{found}: {clue['clue']}{said}"


def _fill(fill: events.ShownFill, sentence: str) -> str:
    mark = "=" if fill["chosen"] else "or"
    notes = ["by a person" if fill["by"] == "person" else f"round {fill['round'] + 1}"]
    notes += [] if fill["grounded"] or fill["by"] == "person" else ["no text states it"]
    notes += [] if fill["holds"] else ["found under another value"]
    return f"{fill['slot']} {mark} {fill['value']}  ({', '.join(notes)}) {sentence}".rstrip()


TELLS: Mapping[str, Callable[[Any], Section]] = {
    "plan": tell_plan,
    "clues": tell_clues,
    "propositions": tell_propositions,
    "fills": tell_fills,
}
"""How a terminal shows each event."""
