"""Settings of a build of HotpotQA-SUBQ, and the models that it asks."""

from __future__ import annotations

from dataclasses import dataclass

from ras_flow.parts.protocols import LanguageModel
from ras_flow.support.validation import NonNegative, Positive
from ras_flow.training.splits import Splitter


@dataclass(frozen=True)
class Models:
    """The model of each step.

    Attributes:
        base: Attempts questions without retrieval; None to leave that out.
        filter: Keeps the documents that are needed.
    """

    base: LanguageModel | None
    filter: LanguageModel
    subqueries: LanguageModel
    extractor: LanguageModel


class BuildConfig(Splitter):
    """Settings of a build, which also sends its questions into splits.

    Attributes:
        distractors: Other documents of the question in each hop; 0 as in the appendix.
        concurrency: Questions under way at once.
        limit: Questions to build from, the first of the file; None for all.
    """

    seed: NonNegative[int] = 13
    distractors: NonNegative[int] = 4
    concurrency: Positive[int] = 8
    limit: Positive[int] | None = None
