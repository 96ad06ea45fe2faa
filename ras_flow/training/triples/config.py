"""The settings of an extractor's training, read from TOML; the defaults are the paper's (D.1)."""

from __future__ import annotations

from collections.abc import Mapping

from ras_flow.prompts.extractor import TRAINED_INSTRUCTION
from ras_flow.support.validation import NonNegative, Settings, Share, Texts
from ras_flow.training.texts.config import ModelSettings, TextTraining


class ExtractorSettings(ModelSettings):
    """What is trained; ``start`` may be ``local:default``, the package's own extractor.

    Attributes:
        instruction: What is asked with each passage, in training as at inference.
    """

    instruction: str = TRAINED_INSTRUCTION


class DataSettings(Settings):
    """What it learns from.

    Attributes:
        files: Texts with triples; see :func:`.examples.read_examples`.
        facts: Files whose titles are kept out of training, to measure the recall of answer-bearing
            facts on; see :func:`ras_flow.datasets.facts.read_facts`.
        apart_from: Mixes; then the titles that these keep for development and testing stay out of
            training, and of ``facts`` only these are measured on.
        most: At most so many training examples of a source, by the beginning of its name;
            proportionally fewer in the other splits.
        skip: Training examples of a source to leave out first, such as those that an earlier
            training with the same files and seed had as its ``most``.
        dev: Share of the titles to watch the training by; ``test`` stays untouched.
    """

    files: Texts
    facts: Texts = ()
    apart_from: Texts = ()
    most: Mapping[str, NonNegative[int]] = {}
    skip: Mapping[str, NonNegative[int]] = {}
    dev: Share[float] = 0.03
    test: Share[float] = 0.08
    seed: NonNegative[int] = 13


class TrainingConfig(TextTraining):
    """All settings; each attribute is a table of the file."""

    data: DataSettings
    model: ExtractorSettings = ExtractorSettings()

    @property
    def instructions(self) -> Mapping[str, str]:
        """Return what is asked with each passage."""
        return {"": self.model.instruction}
