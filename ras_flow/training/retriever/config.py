"""The settings of a retriever's training, read from TOML; the defaults are the paper's (F)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ras_flow.kg.retrievers.checkpoint import ModelSettings
from ras_flow.support.validation import NonNegative, Positive, Settings, Share, Texts
from ras_flow.training import settings
from ras_flow.training.settings import Schedule, TrainingSettings


class DataSettings(Settings):
    """What it learns from.

    Attributes:
        sets: Folders that ``ras-flow data supervise`` wrote.
        depth: Steps from a question's entities within which facts are candidates.
        most: Candidate facts at most, nearer ones first.
        share: Part of the training questions.
        only: Sources to learn from; empty for all.
    """

    sets: Annotated[Texts, Field(min_length=1)]
    depth: Positive[int] = 2
    most: Positive[int] = 20_000
    share: Annotated[float, Field(gt=0, le=1)] = 1.0
    only: Texts = ()


class OptimizerSettings(settings.OptimizerSettings):
    """How it learns: Adam without decay."""

    learning_rate: NonNegative[float] = 1e-3
    schedule: Schedule = "constant"
    warmup: Share[float] = 0.0
    weight_decay: NonNegative[float] = 0.0
    accumulation: Positive[int] = 1
    epochs: Positive[float] = 80.0


class WatchSettings(Settings):
    """How training is watched; the checkpoint with the best recall on ``dev`` is kept.

    Attributes:
        every: Steps between measurements, and between checkpoints.
        top: Facts among which those to find should be.
        questions: Questions of ``dev`` to measure on, at most.
        patience: Stop after so many measurements without a lower loss; 0 for never.
    """

    every: Positive[int] = 100
    top: Positive[int] = 100
    questions: Positive[int] = 500
    patience: NonNegative[int] = 0


class TrainingConfig(TrainingSettings):
    """All settings; each attribute is a table of the file."""

    data: DataSettings
    model: ModelSettings = ModelSettings()
    optimizer: OptimizerSettings = OptimizerSettings()
    watch: WatchSettings = WatchSettings()
