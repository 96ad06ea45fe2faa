"""What T²RAG keeps of a run beside the channels that all systems share, and returns of it."""

from __future__ import annotations

from typing import Annotated

from ras_flow.state.channels import RasOutput, RunState
from ras_flow.state.reducers import by_index, by_key, delta
from ras_flow.state.schema import Plan
from ras_flow.t2rag.records import Clue, Fill, Round, Verdict, united

merge_clues = by_key(Clue, lambda known, new: known)
"""Adds clues; one that is known stays as it was first written."""

merge_fills = by_key(Fill, united)
"""Adds fills; one that is known gains the new evidence."""


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
