"""The settings of an extractor's training, read from TOML; the defaults are the paper's (D.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ras_flow.llms.local.weights import SMOLLM2
from ras_flow.prompts.extractor import TRAINED_INSTRUCTION
from ras_flow.support.validation import NonNegative, Positive, Settings, Share, Texts
from ras_flow.training.settings import TrainingSettings


class ModelSettings(Settings):
    """What is trained.

    Attributes:
        name: A folder, or a name on the hub.
        kind: ``causal`` for chat models, ``seq2seq`` for Flan-T5 and its kind.
        instruction: What is asked with each passage, in training as at inference.
        start: An extractor whose adapter training continues, such as ``local:default`` or
            ``local:FOLDER``; empty for a new one.
    """

    name: str = SMOLLM2
    kind: Literal["causal", "seq2seq"] = "causal"
    instruction: str = TRAINED_INSTRUCTION
    start: str = ""


class DataSettings(Settings):
    """What it learns from.

    Attributes:
        files: Texts with triples; see :func:`.examples.read_examples`.
        facts: Files whose titles are kept out of training, to measure the recall of answer-bearing
            facts on; see :func:`ras_flow.datasets.facts.read_facts`.
        most: At most so many training examples of a source, by the beginning of its name;
            proportionally fewer in the other splits.
        skip: Training examples of a source to leave out first, such as those that an earlier
            training with the same files and seed had as its ``most``.
        dev: Share of the titles to watch the training by; ``test`` stays untouched.
    """

    files: Texts
    facts: Texts = ()
    most: Mapping[str, NonNegative[int]] = {}
    skip: Mapping[str, NonNegative[int]] = {}
    dev: Share[float] = 0.03
    test: Share[float] = 0.08
    seed: NonNegative[int] = 13


class LoraSettings(Settings):
    """The adapter; rank 0 trains the whole model instead, as in the paper."""

    rank: NonNegative[int] = 16
    alpha: Positive[int] = 32
    dropout: Share[float] = 0.05
    targets: str | Texts = "all-linear"


class LengthSettings(Settings):
    """Most tokens: longer texts are left out, longer outputs cut after a whole triple."""

    source: Positive[int] = 512
    target: Positive[int] = 256


class SavingSettings(Settings):
    """Steps between checkpoints and measurements on ``dev``; format of the final weights."""

    every: Positive[int] = 5000
    dtype: Literal["float16", "float32"] = "float16"


class TrainingConfig(TrainingSettings):
    """All settings; each attribute is a table of the file."""

    data: DataSettings
    model: ModelSettings = ModelSettings()
    lora: LoraSettings = LoraSettings()
    lengths: LengthSettings = LengthSettings()
    saving: SavingSettings = SavingSettings()
