"""Figures of extractors on the untouched part and on whole passages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ras_flow.datasets.facts import FactPassage, fact_recall
from ras_flow.formats.pronouns import is_pronoun
from ras_flow.formats.quality import Rule
from ras_flow.llms.local.tuned import MANIFEST
from ras_flow.support.files import write_whole
from ras_flow.training.texts.folder import CARD
from ras_flow.training.triples.card import model_card
from ras_flow.training.triples.examples import Example
from ras_flow.training.triples.raw import Raw, passages_of, refined
from ras_flow.training.triples.scores import Prediction, Scores, score


@dataclass(frozen=True)
class Measured:
    """An extractor's figures.

    Attributes:
        scores: On the untouched part, by source and for ``"all"``.
        fact_recall: Share of the answer-bearing facts of whole passages that it found.
        unparsable: Share of the texts and passages from whose output no triple could be read.
        pronouns: Share of all triples whose subject is a pronoun.
        errors: Texts and passages that it could not read at all.
        seconds: How long it took, without loading.
    """

    name: str
    scores: dict[str, Scores]
    fact_recall: float
    facts: int
    unparsable: float
    pronouns: float
    errors: int
    output_tokens: int
    seconds: float

    def as_record(self) -> dict[str, Any]:
        """Return all figures as JSON-like data."""
        return {
            "name": self.name,
            "fact_recall": round(self.fact_recall, 4),
            "facts": self.facts,
            "unparsable": round(self.unparsable, 4),
            "pronoun_subjects": round(self.pronouns, 4),
            "errors": self.errors,
            "output_tokens": self.output_tokens,
            "seconds": round(self.seconds, 1),
            "sources": {name: scores.as_record() for name, scores in self.scores.items()},
        }


def figures(
    name: str,
    made: Mapping[str, Raw],
    examples: Sequence[Example],
    facts: Sequence[FactPassage],
    rules: Mapping[str, Rule] | None = None,
) -> Measured:
    """Compare what an extractor made."""
    passages = passages_of(examples, facts)
    raw = [made[passage["id"]] for passage in passages]
    kept = [refined(one.extraction, p, rules or {}) for p, one in zip(passages, raw, strict=True)]
    predictions = [
        Prediction(example.source, extraction.triples, example.triples, bool(extraction.dropped))
        for example, extraction in zip(examples, kept, strict=False)
    ]
    subjects = [subject for extraction in kept for subject, _, _ in extraction.triples]
    return Measured(
        name=name,
        scores=score(predictions),
        fact_recall=fact_recall(facts, [one.triples for one in kept[len(examples) :]]),
        facts=sum(len(stated.facts) for stated in facts),
        unparsable=sum(not one.extraction.triples for one in raw) / max(1, len(raw)),
        pronouns=sum(map(is_pronoun, subjects)) / max(1, len(subjects)),
        errors=sum(one.extraction.error is not None for one in raw),
        output_tokens=sum(one.extraction.output_tokens for one in raw),
        seconds=sum(one.seconds for one in raw),
    )


def add_to_card(folder: Path, measured: Sequence[Measured]) -> None:
    """Write figures into ``metrics.json`` and the model card of a trained extractor."""
    metrics = [figures.as_record() for figures in measured]
    record = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    write_whole(folder / "metrics.json", json.dumps(metrics, indent=2) + "\n")
    write_whole(folder / CARD, model_card(record, metrics))
