"""How good plans and answers are, against the targets of their records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ras_flow.formats.answer import clean_answer
from ras_flow.formats.normalize import normalize_name, normalize_question, token_f1
from ras_flow.formats.plan import parse_plan
from ras_flow.training.data.records import Record

LATER = "after a search"
"""The plans that have found something: before it, asking is nearly always right."""

NextPassage = dict[str, float | None]
"""How often the next gold passage is found.

``plans`` counts the plans after the first hop that should ask for a page whose title is known.
``by_target`` of them find it with their target's subquery, ``by_model`` with what the model wrote
(without a subquery it finds nothing). ``relative`` is ``by_model`` / ``by_target``.
"""


@dataclass
class Scores:
    """Sums over records; :meth:`as_record` gives their means.

    Attributes:
        right: Plans with the right label; answers that are the gold answer, normalised.
        unusable: Plans without a label, and empty answers.
        f1: Sum of the words' F1 of answers, and of subqueries where both texts have one.
        compared: Texts that ``f1`` is summed over.
        exact: Of the texts compared, those that are the gold one, normalised.
        labels: How often each gold label was answered by which, for plans.
    """

    records: int = 0
    right: int = 0
    unusable: int = 0
    f1: float = 0.0
    compared: int = 0
    exact: int = 0
    labels: dict[str, int] = field(default_factory=dict)

    def as_record(self) -> dict[str, Any]:
        """Return shares, with the number of records that they are of."""
        return {
            "records": self.records,
            "right": _share(self.right, self.records),
            "unusable": _share(self.unusable, self.records),
            "f1": _share(self.f1, self.compared),
            "f1_of": self.compared,
            "exact": _share(self.exact, self.compared),
            "labels": dict(sorted(self.labels.items())),
        }


@dataclass(frozen=True)
class Measures:
    """A model's figures.

    Attributes:
        scores: By task and source; the source ``"all"`` has all of a task, and :data:`LATER` the
            plans of all sources that come after a search.
        texts: What the model wrote, by the record's position: data sets may share ids.
        next_passage: What its subqueries find in an index, where one was searched.
    """

    scores: dict[tuple[str, str], Scores]
    texts: Sequence[str]
    next_passage: NextPassage | None = None

    def as_record(self) -> dict[str, Any]:
        """Return the figures as JSON-like data: ``{"plan": {"all": {...}, ...}, ...}``."""
        out: dict[str, Any] = {}
        for (task, source), scores in sorted(self.scores.items()):
            out.setdefault(task, {})[source] = scores.as_record()
        if self.next_passage is not None:
            out["next_passage"] = self.next_passage
        return out

    def summary(self) -> dict[str, float]:
        """Return the few figures that a training log shows."""
        found = {
            task: s.as_record() for (task, source), s in self.scores.items() if source == "all"
        }
        out = {}
        if "plan" in found:
            out["plan_label_accuracy"] = found["plan"]["right"]
        if "answer" in found:
            out["answer_exact_match"] = found["answer"]["right"]
            out["answer_f1"] = found["answer"]["f1"]
        return out


def measure(records: Sequence[Record], texts: Mapping[int, str]) -> Measures:
    """Compare what was written with the targets."""
    scores: dict[tuple[str, str], Scores] = {}
    for row, record in enumerate(records):
        later = [LATER] if record["task"] == "plan" and record["chain"] else []
        # A source may be called so, too.
        for source in dict.fromkeys(("all", *later, record["source"])):
            _count(scores.setdefault((record["task"], source), Scores()), record, texts[row])
    return Measures(scores, [texts[row] for row in range(len(records))])


def _count(scores: Scores, record: Record, text: str) -> None:
    scores.records += 1
    target = record["target"]
    if record["task"] == "answer":
        said = clean_answer(text)
        right = normalize_name(said) == normalize_name(target["answer"])
        scores.right += right
        scores.exact += right
        scores.unusable += not said
        scores.f1 += token_f1(said, target["answer"])
        scores.compared += 1
        return
    plan = parse_plan(text)
    gold = target["label"]
    label = plan.label or ("SUBQ" if plan.wants_subquery and not record["chain"] else None)
    scores.right += label == gold
    scores.unusable += label is None
    pair = f"{gold} -> {label or 'none'}"
    scores.labels[pair] = scores.labels.get(pair, 0) + 1
    if gold == "SUBQ" == label and record["chain"]:
        scores.f1 += token_f1(plan.subquery, target["subquery"])
        scores.exact += normalize_question(plan.subquery) == normalize_question(target["subquery"])
        scores.compared += 1


def _share(part: float, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
