"""The settings of a text-to-text training, read from TOML; the defaults are the paper's (D.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import model_validator

from ras_flow.llms.local.precision import Precision
from ras_flow.llms.local.weights import SMOLLM2
from ras_flow.support.validation import NonNegative, Positive, Settings, Share, Texts
from ras_flow.training.settings import TrainingSettings


class ModelSettings(Settings):
    """What is trained.

    Attributes:
        name: A folder, or a name on the hub.
        kind: ``causal`` for chat models, ``seq2seq`` for Flan-T5 and its kind.
        start: A trained model whose adapter training continues, such as ``local:FOLDER``, which may
            be a Graph LLM's; empty for a new one.
        dtype: Number format of the frozen model; whole models are trained in float32.
    """

    name: str = SMOLLM2
    kind: Literal["causal", "seq2seq"] = "causal"
    start: str = ""
    dtype: Precision = "float32"


class LoraSettings(Settings):
    """The adapter; rank 0 trains the whole model instead, as in the paper."""

    rank: NonNegative[int] = 16
    alpha: Positive[int] = 32
    dropout: Share[float] = 0.05
    targets: str | Texts = "all-linear"


class LengthSettings(Settings):
    """Most tokens: longer texts are left out, and longer outputs cut where a trainer can cut."""

    source: Positive[int] = 512
    target: Positive[int] = 256


class SavingSettings(Settings):
    """Steps between checkpoints and measurements on ``dev``; format of the final weights."""

    every: Positive[int] = 5000
    dtype: Literal["float16", "float32"] = "float16"


class TextTraining(TrainingSettings):
    """All settings but the data; each attribute is a table of the file."""

    model: ModelSettings = ModelSettings()
    lora: LoraSettings = LoraSettings()
    lengths: LengthSettings = LengthSettings()
    saving: SavingSettings = SavingSettings()

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.lora.rank and self.model.dtype != "float32":
            raise ValueError("model.dtype must be float32 where lora.rank = 0 trains all weights.")
        return self

    @property
    def instructions(self) -> Mapping[str, str]:
        """Return what is asked with each text, by task; the only one of an extractor has no name.

        It is the same in training and at inference.
        """
        return {}


class RowSettings(Settings):
    """Files of rows with ``task``, ``input``, ``output`` and ``split``; see :mod:`.rows`.

    Attributes:
        most: Training rows at most; None for all.
        skip: Training rows to leave out first, such as an earlier training's.
        most_of: Training rows of a source at most, by its name; all of others.
        watch: Rows of ``dev`` to watch the training by.
    """

    files: Texts
    most: Positive[int] | None = None
    most_of: Mapping[str, NonNegative[int]] = {}
    skip: NonNegative[int] = 0
    watch: NonNegative[int] = 64


class RowTraining(TextTraining):
    """The settings of a training on rows of several tasks.

    Attributes:
        tasks: What is asked with the inputs of each task.
    """

    data: RowSettings
    tasks: Mapping[str, str]

    @property
    def instructions(self) -> Mapping[str, str]:
        """Return what is asked with each text, by task."""
        return self.tasks
