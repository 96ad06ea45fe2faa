"""What became of T²RAG's clues: measured against gold facts, and as evidence of what went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from ras_flow.datasets.facts import holds
from ras_flow.evaluation.question import Question
from ras_flow.formats.normalize import has_name
from ras_flow.t2rag.board import survey
from ras_flow.t2rag.settings import T2Context


@dataclass(frozen=True)
class ClueEvidence:
    """How far a run's clues came.

    Attributes:
        open: What was left open.
        wrong: Values of slots that no gold fact or answer names, where gold facts are known.
        ungrounded: Values that nothing which was read states.
        measures: Shares of clues and slots that are right, and whether all were resolved.
    """

    open: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    ungrounded: list[str] = field(default_factory=list)
    measures: Mapping[str, float] = field(default_factory=dict)


def read_clues(state: Mapping[str, Any], settings: T2Context, question: Question) -> ClueEvidence:
    """Compare a run's clues with the gold facts of its question."""
    board = survey(state, settings)
    facts = [fact for one in question.support for fact in one.facts]
    named = [name for subject, _, object in facts for name in (subject, object)]
    named += question.answers
    chosen = [state["fills"][id] for id in board.chosen.values()]
    values = [fill["value"] for fill in chosen]
    wrong = [one for one in values if facts and not any(_same(one, name) for name in named)]
    known = [one.form.spo for one in board.known if one.status != "contradicted"]
    measures = {
        "resolved": float(bool(board.clues) and not board.open),
        "passages": float(len(state["passages"])),
    }
    if facts and known:
        measures["clues_right"] = fmean(any(holds([fact], one) for fact in facts) for one in known)
    if facts and values:
        measures["slots_right"] = 1 - len(wrong) / len(values)
    return ClueEvidence(
        open=[" ".join(one.form.spo) for one in board.open],
        wrong=wrong,
        ungrounded=[fill["value"] for fill in chosen if not fill["grounded"]],
        measures=measures,
    )


def _same(value: str, name: str) -> bool:
    return has_name(value, name) or has_name(name, value)
