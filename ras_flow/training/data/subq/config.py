"""Settings of a build of HotpotQA-SUBQ, and the models that it asks."""

from __future__ import annotations

from dataclasses import dataclass

from ras_flow.parts.protocols import LanguageModel
from ras_flow.support.ranges import NonNegative, Positive, check_ranges
from ras_flow.training.data.noise import Noise

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


@dataclass(frozen=True)
class BuildConfig:
    """Settings of a build.

    Attributes:
        seed: Everything that is random follows from it.
        dev: Share of the questions for development.
        test: Share of the questions for testing.
        distractors: Other documents of the question in each hop; 0 as in the appendix.
        failures: Let hops fail as in :class:`~ras_flow.training.data.noise.Noise`.
        concurrency: Questions under way at once.
        limit: Questions to build from, the first of the file; None for all.
    """

    seed: NonNegative[int] = 13
    dev: float = 0.05
    test: float = 0.05
    distractors: NonNegative[int] = 4
    failures: bool = False
    concurrency: Positive[int] = 8
    limit: Positive[int | None] = None

    def __post_init__(self) -> None:
        check_ranges(self)

    @property
    def noise(self) -> Noise:
        """What goes wrong in the hops: nothing, unless ``failures`` is on."""
        passages = 1 + self.distractors
        if self.failures:
            return Noise(passages=passages, max_triples=10, lucky=0.0, respelled=0.0)
        return Noise(
            passages=passages,
            max_triples=10,
            found_by_question=1.0,
            found=1.0,
            lucky=0.0,
            dead_end=0.0,
            nothing=0.0,
            missed=0.0,
            respelled=0.0,
        )
