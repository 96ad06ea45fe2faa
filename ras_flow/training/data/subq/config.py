"""Settings of a build of HotpotQA-SUBQ, and the models that it asks."""

from __future__ import annotations

from dataclasses import dataclass

from ras_flow.parts.protocols import LanguageModel
from ras_flow.support.validation import NonNegative, Positive, Settings, Share

STEPS = ("attempt", "filter", "subqueries", "extract")
"""What models are asked for: the steps that tokens are counted by."""


@dataclass(frozen=True)
class Models:
    """The model of each step.

    Attributes:
        base: Attempts questions without retrieval; None to leave that out.
        filter: Keeps the documents that are needed.
        subqueries: Writes a subquery for each.
        extractor: Turns documents into triples (f_t2t).
    """

    base: LanguageModel | None
    filter: LanguageModel
    subqueries: LanguageModel
    extractor: LanguageModel


class BuildConfig(Settings):
    """Settings of a build.

    Attributes:
        seed: Decides the splits and all that is random.
        dev: Share of the questions for development.
        test: Share of the questions for testing.
        distractors: Other documents of the question in each hop; 0 as in the appendix.
        concurrency: Questions under way at once.
        limit: Questions to build from, the first of the file; None for all.
    """

    seed: NonNegative[int] = 13
    dev: Share[float] = 0.05
    test: Share[float] = 0.05
    distractors: NonNegative[int] = 4
    concurrency: Positive[int] = 8
    limit: Positive[int] | None = None
