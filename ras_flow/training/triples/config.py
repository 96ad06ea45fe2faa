"""The settings of a training run, read from TOML; what is not named is as in the paper (D.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ras_flow.llms.local.weights import SMOLLM2
from ras_flow.prompts.extractor import TRAINED_INSTRUCTION
from ras_flow.support.ranges import NonNegative, Positive, Share, check_ranges
from ras_flow.training.settings import Schedule


@dataclass(frozen=True)
class ModelSettings:
    """What is trained.

    Attributes:
        name: A folder, or a name on the hub.
        kind: ``causal`` for chat models, ``seq2seq`` for Flan-T5 and its kind.
        instruction: What is asked with each passage, in training as at inference.
        start: An extractor whose adapter training goes on with, such as ``local:default`` or
            ``local:FOLDER``; empty for a new one.
    """

    name: str = SMOLLM2
    kind: Literal["causal", "seq2seq"] = "causal"
    instruction: str = TRAINED_INSTRUCTION
    start: str = ""


@dataclass(frozen=True)
class DataSettings:
    """What it learns from.

    Attributes:
        files: Texts with triples; see :func:`.examples.read_examples`.
        facts: Files whose titles are kept out of training, for the recall of answer-bearing facts;
            see :func:`ras_flow.datasets.facts.read_facts`.
        most: At most so many training examples of a source, by the beginning of its name;
            proportionally fewer in the other splits.
        skip: Training examples of a source that are left out first: those that an earlier training
            with the same files and seed had as its ``most``.
        dev: Share of the titles for watching the training.
        test: Share of the titles for the untouched part.
        seed: Decides splits and limits.
    """

    files: tuple[str, ...]
    facts: tuple[str, ...] = ()
    most: NonNegative[Mapping[str, int]] = field(default_factory=dict)
    skip: NonNegative[Mapping[str, int]] = field(default_factory=dict)
    dev: Share[float] = 0.03
    test: Share[float] = 0.08
    seed: NonNegative[int] = 13


@dataclass(frozen=True)
class LoraSettings:
    """The adapter.

    Attributes:
        rank: Its rank; 0 trains the whole model instead, as in the paper.
        alpha: Its scale, divided by the rank.
        dropout: Dropout of its input, in training.
        targets: Names of the layers, or ``all-linear``.
    """

    rank: NonNegative[int] = 16
    alpha: Positive[int] = 32
    dropout: Share[float] = 0.05
    targets: str | tuple[str, ...] = "all-linear"


@dataclass(frozen=True)
class OptimizerSettings:
    """How it learns.

    Attributes:
        learning_rate: Peak of the learning rate of AdamW.
        schedule: How it falls after the warm-up.
        warmup: Share of the steps during which it rises.
        weight_decay: AdamW's.
        clip: Norm at which gradients are cut.
        batch_size: Examples that are computed at once.
        accumulation: Batches that make a step.
        epochs: Passes through the data.
        steps: Stop after so many steps, where the epochs have more; 0 for none.
        precision: ``bf16`` computes in mixed precision; ``auto`` does so on a GPU.
        seed: Decides the order of the examples, dropout, and new weights.
    """

    learning_rate: NonNegative[float] = 2e-5
    schedule: Schedule = "linear"
    warmup: Share[float] = 0.03
    weight_decay: NonNegative[float] = 0.01
    clip: NonNegative[float] = 1.0
    batch_size: Positive[int] = 32
    accumulation: Positive[int] = 4
    epochs: Positive[float] = 3.0
    steps: NonNegative[int] = 0
    precision: Literal["auto", "bf16", "float32"] = "auto"
    seed: NonNegative[int] = 7


@dataclass(frozen=True)
class LengthSettings:
    """How long a text and its triples may be, in tokens.

    Attributes:
        source: Longest text; examples with a longer one are left out.
        target: Longest output; a longer one is cut after its last whole triple.
    """

    source: Positive[int] = 512
    target: Positive[int] = 256


@dataclass(frozen=True)
class SavingSettings:
    """What is written.

    Attributes:
        every: Steps between checkpoints, and between measurements of the loss on ``dev``.
        dtype: Number format of the weights in the finished folder.
    """

    every: Positive[int] = 5000
    dtype: Literal["float16", "float32"] = "float16"


@dataclass(frozen=True)
class TrainingConfig:
    """All settings; each attribute is a table of the file."""

    data: DataSettings
    model: ModelSettings = ModelSettings()
    lora: LoraSettings = LoraSettings()
    optimizer: OptimizerSettings = OptimizerSettings()
    lengths: LengthSettings = LengthSettings()
    saving: SavingSettings = SavingSettings()

    def __post_init__(self) -> None:
        """Check what the types do not say."""
        check_ranges(self)
