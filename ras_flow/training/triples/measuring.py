"""Figures of extractors on the untouched part and on whole passages, and the aims they are for."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ras_flow.components import Extraction, Extractor
from ras_flow.evaluation.facts import FactPassage, fact_recall
from ras_flow.evaluation.triples import Outcome, Scores, score
from ras_flow.formats.pronouns import is_pronoun
from ras_flow.llms.tuned import MANIFEST
from ras_flow.state.schema import Passage, passage_id
from ras_flow.training.triples.card import CARD, model_card
from ras_flow.training.triples.examples import Example

AT_ONCE = 256
"""Passages in one call of the extractor."""


@dataclass(frozen=True)
class Measured:
    """An extractor's figures.

    Attributes:
        name: What it is called in tables.
        scores: On the untouched part, by source and for ``"all"``.
        fact_recall: Share of the answer-bearing facts of whole passages that it found.
        facts: How many facts these are.
        unparsable: Share of the texts and passages from whose output no triple could be read.
        pronouns: Share of all triples whose subject is a pronoun.
        errors: Texts and passages that it could not read at all.
        output_tokens: Tokens that it generated.
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


@dataclass(frozen=True)
class Aim:
    """What an extractor should reach.

    Attributes:
        name: What is measured.
        wanted: The aim, in words.
        value: What was measured, in words.
        met: Whether it is reached.
    """

    name: str
    wanted: str
    value: str
    met: bool


async def measure(
    name: str,
    extractor: Extractor,
    examples: Sequence[Example],
    facts: Sequence[FactPassage],
    log: Callable[[str], None] = lambda _: None,
) -> Measured:
    """Extract the triples of the untouched part and of whole passages, and compare.

    Args:
        name: What to call the extractor.
        extractor: Any extractor.
        examples: The untouched part, complete examples only.
        facts: Passages with answer-bearing facts.
        log: Told how far it is.

    Returns:
        Its figures.

    Raises:
        AuthenticationError: The key was refused.
        ModelUnavailableError: The model cannot be reached.
        MissingExtraError: A package of the extra ``train`` is not installed.
    """
    passages = [_passage(example) for example in examples] + [fact.passage for fact in facts]
    if passages:  # Loading is not counted.
        await extractor.extract([passages[0]])
    started = time.monotonic()
    made: list[Extraction] = []
    for start in range(0, len(passages), AT_ONCE):
        made += await extractor.extract(passages[start : start + AT_ONCE])
        log(f"{name}: {len(made)} of {len(passages)} texts")
    seconds = time.monotonic() - started
    outcomes = [
        Outcome(example.source, extraction.triples, example.triples, bool(extraction.dropped))
        for example, extraction in zip(examples, made, strict=False)
    ]
    subjects = [subject for extraction in made for subject, _, _ in extraction.triples]
    return Measured(
        name=name,
        scores=score(outcomes),
        fact_recall=fact_recall(
            facts, [extraction.triples for extraction in made[len(examples) :]]
        ),
        facts=sum(len(fact.facts) for fact in facts),
        unparsable=sum(not extraction.triples for extraction in made) / max(1, len(made)),
        pronouns=sum(map(is_pronoun, subjects)) / max(1, len(subjects)),
        errors=sum(extraction.error is not None for extraction in made),
        output_tokens=sum(extraction.output_tokens for extraction in made),
        seconds=seconds,
    )


def aims(base: Measured, tuned: Measured) -> list[Aim]:
    """Compare a trained extractor with its untrained base, asked with examples.

    Args:
        base: The figures of the base.
        tuned: The figures of the trained extractor, on the same texts.

    Returns:
        The four aims.
    """
    before, after = (m.scores["all"].levels["normalised"].f1 for m in (base, tuned))
    return [
        Aim(
            "outputs without a readable triple",
            "under 0.5%",
            f"{tuned.unparsable:.2%} (base {base.unparsable:.2%})",
            tuned.unparsable < 0.005,
        ),
        Aim(
            "normalised F1",
            "at least twice the base's",
            f"{after:.3f} (base {before:.3f})",
            after >= 2 * before and after > 0,
        ),
        Aim(
            "pronouns as subjects",
            "none",
            f"{tuned.pronouns:.2%} (base {base.pronouns:.2%})",
            tuned.pronouns == 0,
        ),
        Aim(
            "recall of answer-bearing facts",
            "at least 70%",
            f"{tuned.fact_recall:.1%} (base {base.fact_recall:.1%}) of {tuned.facts}",
            tuned.fact_recall >= 0.7,
        ),
    ]


def add_to_card(folder: Path, measured: Sequence[Measured]) -> None:
    """Write figures into ``metrics.json`` and the model card of a trained extractor.

    Args:
        folder: The folder that training wrote.
        measured: The figures of the extractor, and of those that it is compared with.
    """
    metrics = [figures.as_record() for figures in measured]
    record = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    _replace(folder / "metrics.json", json.dumps(metrics, indent=2) + "\n")
    _replace(folder / CARD, model_card(record, metrics))


def _replace(file: Path, text: str) -> None:
    scratch = file.with_name(f"{file.name}.unfinished")
    scratch.write_text(text, encoding="utf-8")
    os.replace(scratch, file)


def _passage(example: Example) -> Passage:
    title, text = example.title, example.text
    return {"id": passage_id(title, text), "title": title, "text": text}
