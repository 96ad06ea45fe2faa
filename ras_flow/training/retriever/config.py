"""The settings of a retriever's training, read from TOML; the defaults are the paper's (F)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ras_flow.kg.retrievers.checkpoint import ModelSettings
from ras_flow.support.validation import NonNegative, Positive, Settings, Share, Texts
from ras_flow.training import settings
from ras_flow.training.settings import Schedule, TrainingSettings


class DataSettings(Settings):
    """What it learns from: folders of ``ras-flow data supervise``, of ``only`` some sources if any.

    Attributes:
        depth: Steps from a question's entities within which facts are candidates.
        most: Candidate facts at most, nearer ones first.
        share: Part of the training questions.
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

    It is measured, and kept, ``every`` so many steps, by what is among the ``top`` facts of so many
    ``questions``; ``patience`` stops it after so many measurements without a lower loss.
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
