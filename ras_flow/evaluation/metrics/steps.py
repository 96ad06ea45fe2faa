"""Measures of a run's steps: what was found of what a question rests on, plans and subqueries.

A piece of support is found *by title* when a passage has its title, and *by text* when a passage
holds its words, or is itself a piece of it (paragraphs are cut into passages of about 100 words).
Support with neither title nor text is not judged at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from ras_flow.evaluation.metrics.short_answers import f1
from ras_flow.evaluation.question import Support
from ras_flow.formats.normalize import has_words, normalize_name
from ras_flow.state.schema import Passage, PlanLabel
from ras_flow.support.extras import require

By = Literal["title", "text"]
"""What support is recognised by."""

MIN_PIECE = 5
"""Words from which on a passage can be a piece of a longer text."""

_ENDING: dict[PlanLabel | None, PlanLabel] = {"NO_RETRIEVAL": "SUFFICIENT"}
"""After a search [NO_RETRIEVAL] ends it too."""


@dataclass(frozen=True)
class Found:
    """The share of a question's support that was found, and whether that is all of it."""

    recall: float
    all_support: bool


def is_found(support: Support, passages: Iterable[Passage], by: By = "title") -> bool:
    """Tell whether passages hold a piece of support."""
    wanted = _name(support, by)
    if not wanted:
        return False
    names = (normalize_name(passage[by]) for passage in passages)
    return wanted in names if by == "title" else any(_holds(name, wanted) for name in names)


def recall_by_hop(
    support: Sequence[Support], hops: Sequence[Sequence[Passage]]
) -> list[Found] | None:
    """Measure a run after each of its hops."""
    known = ((part, _by(part)) for part in support)
    wanted = {(by, name): part for part, by in known if (name := _name(part, by))}
    if not wanted:
        return None
    missing = list(wanted.values())
    found: list[Found] = []
    for passages in hops:
        missing = [part for part in missing if not is_found(part, passages, _by(part))]
        found.append(Found((len(wanted) - len(missing)) / len(wanted), not missing))
    return found


def _by(support: Support) -> By:
    return "title" if _name(support, "title") else "text"


def _name(support: Support, by: By) -> str:
    return normalize_name(support.title if by == "title" else support.text)


def _holds(text: str, wanted: str) -> bool:
    return has_words(text, wanted) or (len(text.split()) >= MIN_PIECE and has_words(wanted, text))


def label_accuracy(labels: Sequence[PlanLabel | None], all_support: Sequence[bool]) -> float | None:
    """Return the share of decisions after a search that were right: to stop once all is found."""
    right = [
        _ENDING.get(label, label) == ("SUFFICIENT" if found else "SUBQ")
        for label, found in zip(labels, all_support, strict=False)
    ]
    return sum(right) / len(right) if right else None


def subquery_f1(subqueries: Sequence[str], support: Iterable[Support]) -> float | None:
    """Return the F1 of subqueries in their best one-to-one pairing with the gold ones."""
    gold = list(dict.fromkeys(part.subquery for part in support if part.subquery))
    if not gold:
        return None
    if not subqueries:
        return 0.0
    assign = require("scipy.optimize", extra="eval").linear_sum_assignment
    alike = [[f1(made, (wanted,)) for wanted in gold] for made in subqueries]
    rows, columns = assign(alike, maximize=True)
    total = sum(alike[row][column] for row, column in zip(rows, columns, strict=True))
    return float(2 * total / (len(subqueries) + len(gold)))
