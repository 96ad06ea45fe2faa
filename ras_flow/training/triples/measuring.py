"""Figures of extractors on the untouched part and on whole passages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ras_flow.datasets.facts import FactPassage, fact_recall
from ras_flow.formats.pronouns import is_pronoun
from ras_flow.formats.quality import Rule
from ras_flow.llms.local.tuned import MANIFEST
from ras_flow.parts.records import Extraction
from ras_flow.support.files import write_whole
from ras_flow.training.texts.folder import CARD
from ras_flow.training.triples.card import model_card
from ras_flow.training.triples.examples import Example
from ras_flow.training.triples.raw import passages_of, refined
from ras_flow.training.triples.scores import Prediction, score, share

Figures = dict[str, Any]
"""An extractor's figures, as JSON-like data: shares, numbers, and scores by source."""


def figures(
    name: str,
    made: Mapping[str, Extraction],
    examples: Sequence[Example],
    facts: Sequence[FactPassage],
    rules: Mapping[str, Rule] | None = None,
) -> Figures:
    """Compare what an extractor made.

    ``sources`` are its scores on the untouched part, ``fact_recall`` is the share of the
    answer-bearing facts of whole passages that it found, ``unparsable`` the share of the texts and
    passages from whose output no triple could be read.
    """
    passages = passages_of(examples, facts)
    raw = [made[passage["id"]] for passage in passages]
    kept = [refined(one, p, rules or {}) for p, one in zip(passages, raw, strict=True)]
    predictions = [
        Prediction(example.source, extraction.triples, example.triples, bool(extraction.dropped))
        for example, extraction in zip(examples, kept, strict=False)
    ]
    subjects = [subject for extraction in kept for subject, _, _ in extraction.triples]
    found = fact_recall(facts, [one.triples for one in kept[len(examples) :]])
    return {
        "name": name,
        "fact_recall": round(found, 4),
        "facts": sum(len(stated.facts) for stated in facts),
        "unparsable": round(share(not one.triples for one in raw), 4),
        "pronoun_subjects": round(share(map(is_pronoun, subjects)), 4),
        "errors": sum(one.error is not None for one in raw),
        "output_tokens": sum(one.output_tokens for one in raw),
        "sources": score(predictions),
    }


def add_to_card(folder: Path, measured: Sequence[Figures]) -> None:
    """Write figures into ``metrics.json`` and the model card of a trained extractor."""
    record = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    write_whole(folder / "metrics.json", json.dumps(measured, indent=2) + "\n")
    write_whole(folder / CARD, model_card(record, measured))
