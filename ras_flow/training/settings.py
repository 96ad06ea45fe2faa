"""The settings that all trainings share."""

from __future__ import annotations

from typing import Literal

from ras_flow.support.validation import NonNegative, Positive, Settings, Share

Schedule = Literal[
    "linear",
    "cosine",
    "cosine_with_restarts",
    "polynomial",
    "constant",
    "constant_with_warmup",
    "inverse_sqrt",
]
"""How a learning rate falls: transformers' schedules that need no further settings."""


class OptimizerSettings(Settings):
    """How a model learns; the defaults are those of the paper's extractor (D.1).

    Attributes:
        learning_rate: AdamW's, at its peak.
        warmup: Share of the steps during which it rises.
        clip: Norm at which gradients are cut.
        batch_size: Examples computed at once. A run may go on with another number if batch_size
            times accumulation stays the same.
        accumulation: Batches in a step.
        steps: Stop after so many steps if the epochs have more; 0 for no limit.
        precision: ``bf16`` computes in mixed precision; ``auto`` does so on a GPU.
        gradient_checkpointing: Compute a language model's layers again for their gradients: a third
            more time, a fraction of the memory. A run may go on with it or without.
        compile: Compile a language model's layers (torch.compile): a minute or two at the start,
            then faster steps on a CPU. Takes a C++ compiler. A run may go on with it or without.
        seed: Decides new weights, the order of the examples, and dropout.
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
    gradient_checkpointing: bool = False
    compile: bool = False
    seed: NonNegative[int] = 7


class TrainingSettings(Settings):
    """The settings that every training has."""

    optimizer: OptimizerSettings = OptimizerSettings()
