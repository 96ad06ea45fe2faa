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
from dataclasses import dataclass, field
from typing import Any

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


@dataclass
class Match:
    """Matches of triples, none counted twice; at the soft level, the sum of similarities."""

    matched: float = 0.0
    predicted: int = 0
    expected: int = 0

    @property
    def precision(self) -> float:
        """In [0, 1]."""
        return self._share(self.predicted)

    @property
    def recall(self) -> float:
        """In [0, 1]."""
        return self._share(self.expected)

    @property
    def f1(self) -> float:
        """In [0, 1]."""
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def add(self, other: Match) -> None:
        """Add the counts of another text."""
        self.matched += other.matched
        self.predicted += other.predicted
        self.expected += other.expected

    def _share(self, total: int) -> float:
        if not self.predicted and not self.expected:
            return 1.0
        return self.matched / total if total else 0.0


@dataclass
class Scores:
    """The measures of an extractor on texts of one source.

    Attributes:
        rouge: F-measures of ROUGE-1, ROUGE-2 and ROUGE-L of the triples as text, mean over texts.
        unparsable: Share of the texts, among those with expected triples, for which no triple
            could be read from the output.
        broken: Share of the texts with a piece of output that could not be read.
        pronouns: Share of the predicted triples whose subject is a pronoun.
    """

    texts: int = 0
    levels: dict[str, Match] = field(default_factory=lambda: {name: Match() for name in LEVELS})
    rouge: dict[str, float] = field(default_factory=dict)
    unparsable: float = 0.0
    broken: float = 0.0
    pronouns: float = 0.0

    def as_record(self) -> dict[str, float]:
        """Return all numbers under flat names, rounded to four places."""
        record: dict[str, float] = {"texts": self.texts}
        for name, match in self.levels.items():
            record[f"{name}_precision"] = match.precision
            record[f"{name}_recall"] = match.recall
            record[f"{name}_f1"] = match.f1
        record |= self.rouge
        record |= {
            "unparsable": self.unparsable,
            "broken": self.broken,
            "pronoun_subjects": self.pronouns,
        }
        return {name: round(value, 4) for name, value in record.items()}


_Compared = tuple[Prediction, dict[str, Match], dict[str, float]]
"""A text's prediction, its matches and its ROUGE."""


def match_triples(predicted: Sequence[Spo], expected: Sequence[Spo]) -> dict[str, Match]:
    """Compare the triples of one text."""
    ours, theirs = list(dict.fromkeys(predicted)), list(dict.fromkeys(expected))
    left, right = ({tuple(map(normalize_name, t)) for t in triples} for triples in (ours, theirs))
    exact = Match(len(set(ours) & set(theirs)), len(ours), len(theirs))
    normalised = Match(len(left & right), len(left), len(right))
    return {
        "exact": exact,
        "normalised": normalised,
        "soft": Match(_soft(sorted(left), sorted(right)), len(left), len(right)),
    }


def score(predictions: Iterable[Prediction]) -> dict[str, Scores]:
    """Measure an extractor."""
    scorer = require("rouge_score.rouge_scorer", extra="train").RougeScorer(list(ROUGE))
    everything = [
        (one, match_triples(one.predicted, one.expected), _rouge(scorer, one))
        for one in predictions
    ]
    groups: dict[str, list[_Compared]] = {"all": []}
    for compared in everything:
        groups.setdefault(compared[0].source, []).append(compared)
    groups["all"] = everything
    return {name: _sum_up(group) for name, group in groups.items()}


def _sum_up(compared: Sequence[_Compared]) -> Scores:
    scores = Scores(texts=len(compared))
    for _, match, _ in compared:
        for level in LEVELS:
            scores.levels[level].add(match[level])
    predictions = [one for one, _, _ in compared]
    if predictions:
        scores.rouge = {
            name: sum(rouge[name] for _, _, rouge in compared) / len(compared) for name in ROUGE
        }
        scores.broken = sum(one.broken for one in predictions) / len(predictions)
    stating = [one for one in predictions if one.expected]
    if stating:
        scores.unparsable = sum(not one.predicted for one in stating) / len(stating)
    subjects = [triple[0] for one in predictions for triple in one.predicted]
    if subjects:
        scores.pronouns = sum(map(is_pronoun, subjects)) / len(subjects)
    return scores


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
