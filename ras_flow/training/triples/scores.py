"""How good extracted triples are: precision, recall and F1 at three levels, and ROUGE (D.1).

- *exact*: triples are the same strings;
- *normalised*: the same after :func:`ras_flow.formats.normalize.normalize_name`;
- *soft*: predicted and reference triples are paired one to one so that the pairs' similarities sum
  up highest; the similarity of two triples is the mean of the token F1 of their three parts.

Counts are summed up over texts (micro average). Where nothing is predicted and nothing expected,
all measures are 1; where only one of both is empty, they are 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from ras_flow.formats.normalize import normalize_name, token_f1
from ras_flow.formats.pronouns import is_pronoun
from ras_flow.formats.triples import Spo, format_triples
from ras_flow.support.extras import require

LEVELS = ("exact", "normalised", "soft")
ROUGE = ("rouge1", "rouge2", "rougeL")


@dataclass(frozen=True)
class Prediction:
    """A text's triples, and those expected; ``broken`` if some output is not triples."""

    source: str
    predicted: Sequence[Spo]
    expected: Sequence[Spo]
    broken: bool = False


class Match(NamedTuple):
    """Matches of triples, none counted twice; at the soft level, the sum of similarities."""

    matched: float = 0.0
    predicted: int = 0
    expected: int = 0

    @property
    def measures(self) -> tuple[float, float, float]:
        """Precision, recall and F1."""
        if not self.predicted and not self.expected:
            return 1.0, 1.0, 1.0
        precision, recall = (
            self.matched / total if total else 0.0 for total in (self.predicted, self.expected)
        )
        both = precision + recall
        return precision, recall, 2 * precision * recall / both if both else 0.0


def summed(matches: Iterable[Match]) -> Match:
    """Add up the counts of several texts."""
    every = list(matches)
    return Match(*map(sum, zip(*every, strict=True))) if every else Match()


def match_triples(predicted: Sequence[Spo], expected: Sequence[Spo]) -> dict[str, Match]:
    """Compare the triples of one text."""
    ours, theirs = set(predicted), set(expected)
    left, right = ({tuple(map(normalize_name, t)) for t in triples} for triples in (ours, theirs))
    return {
        "exact": Match(len(ours & theirs), len(ours), len(theirs)),
        "normalised": Match(len(left & right), len(left), len(right)),
        "soft": Match(_soft(sorted(left), sorted(right)), len(left), len(right)),
    }


def score(predictions: Iterable[Prediction]) -> dict[str, dict[str, float]]:
    """Measure an extractor, by source and for ``"all"``; measures have flat names.

    ``unparsable`` is the share of the texts, among those with expected triples, from whose output
    none could be read; ``broken`` that of the texts with a piece of output that could not be read;
    ``pronoun_subjects`` that of the triples whose subject is a pronoun.
    """
    scorer = require("rouge_score.rouge_scorer", extra="train").RougeScorer(list(ROUGE))
    groups: dict[str, list[_Compared]] = {"all": []}
    for one in predictions:
        compared = one, match_triples(one.predicted, one.expected), _rouge(scorer, one)
        for name in dict.fromkeys(("all", one.source)):
            groups.setdefault(name, []).append(compared)
    return {name: _measures(group) for name, group in groups.items()}


_Compared = tuple[Prediction, dict[str, Match], dict[str, float]]
"""A text's prediction, its matches and its ROUGE."""


def _measures(compared: Sequence[_Compared]) -> dict[str, float]:
    found: dict[str, float] = {"texts": len(compared)}
    for level in LEVELS:
        measures = summed(match[level] for _, match, _ in compared).measures
        found |= {
            f"{level}_{name}": value
            for name, value in zip(("precision", "recall", "f1"), measures, strict=True)
        }
    predictions = [one for one, _, _ in compared]
    subjects = [subject for one in predictions for subject, _, _ in one.predicted]
    found |= {name: share(rouge[name] for _, _, rouge in compared) for name in ROUGE}
    found["unparsable"] = share(not one.predicted for one in predictions if one.expected)
    found["broken"] = share(one.broken for one in predictions)
    found["pronoun_subjects"] = share(map(is_pronoun, subjects))
    return {name: round(value, 4) for name, value in found.items()}


def share(values: Iterable[float]) -> float:
    """Return the mean; 0 for no values."""
    some = list(values)
    return fmean(some) if some else 0.0


def _rouge(scorer: Any, one: Prediction) -> dict[str, float]:
    if not one.expected and not one.predicted:
        return dict.fromkeys(ROUGE, 1.0)
    found = scorer.score(*map(format_triples, (one.expected, one.predicted)))
    return {name: float(value.fmeasure) for name, value in found.items()}


def _soft(left: Sequence[tuple[str, ...]], right: Sequence[tuple[str, ...]]) -> float:
    """Return the highest sum of similarities of a one-to-one pairing of normalised triples."""
    if not left or not right:
        return 0.0
    assign = require("scipy.optimize", extra="train").linear_sum_assignment
    similarity = [[sum(map(token_f1, a, b)) / 3 for b in right] for a in left]
    rows, columns = assign(similarity, maximize=True)
    return float(sum(similarity[row][column] for row, column in zip(rows, columns, strict=True)))
