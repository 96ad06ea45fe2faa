"""What T²RAG keeps of a run, and returns of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from ras_flow.errors import InputError
from ras_flow.state.channels import RasOutput, RunState
from ras_flow.state.checks import checker, keyed
from ras_flow.state.reducers import by_index, by_key, delta
from ras_flow.state.schema import Plan
from ras_flow.t2rag.clues import slots_of
from ras_flow.t2rag.records import Clue, Fill, Round, Verdict

_clue, _fill = checker(Clue), checker(Fill)


def merge_clues(known: Mapping[str, Clue], update: Mapping[str, Clue | None]) -> dict[str, Clue]:
    """Add clues; one that is known stays as it was first written. None removes one."""
    merged = dict(known)
    for id, clue in keyed(update):
        if clue is None:
            merged.pop(id, None)
        else:
            merged.setdefault(id, _clue(clue))
    return merged


def merge_fills(known: Mapping[str, Fill], update: Mapping[str, Fill | None]) -> dict[str, Fill]:
    """Add fills; one that is known gains the new evidence. None removes one."""
    merged = dict(known)
    for id, fill in keyed(update):
        if fill is None:
            merged.pop(id, None)
            continue
        new: Fill = _fill(fill)
        if slots_of((new["slot"], "", "")) != [new["slot"]]:
            raise InputError(f"A fill's slot is written as ?name, not {new['slot']!r:.100}.")
        merged[id] = _united(merged[id], new) if id in merged else new
    return merged


def _united(old: Fill, new: Fill) -> Fill:
    return {
        **old,
        "clues": list(dict.fromkeys([*old["clues"], *new["clues"]])),
        "triples": list(dict.fromkeys([*old["triples"], *new["triples"]])),
        "passages": list(dict.fromkeys([*old["passages"], *new["passages"]])),
        "round": min(old["round"], new["round"]),
        "by": "person" if "person" in (old["by"], new["by"]) else "model",
        "grounded": old["grounded"] or new["grounded"],
    }


class T2State(RunState):
    """What T²RAG keeps of a run: its status, forms and chosen fills are computed from these.

    ``plans`` are the attempts to decompose the question. ``choices`` are the fills, by slot, that a
    person chose. ``verdicts`` are those on claims, by the id of the claim's form.
    """

    plans: Annotated[list[Plan], delta(by_index(Plan), list)]
    rounds: Annotated[list[Round], delta(by_index(Round), list)]
    clues: Annotated[dict[str, Clue], delta(merge_clues, dict)]
    fills: Annotated[dict[str, Fill], delta(merge_fills, dict)]
    choices: Annotated[dict[str, str], delta(by_key(str), dict)]
    verdicts: Annotated[dict[str, Verdict], delta(by_key(Verdict), dict)]


class T2Output(RasOutput):
    """What a finished run returns: beside what all systems do, its clues and what filled them."""

    clues: dict[str, Clue]
    fills: dict[str, Fill]
    verdicts: dict[str, Verdict]
