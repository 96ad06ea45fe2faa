"""The settings of a Graph LLM's training, read from TOML; the defaults are the paper's (D.2, J)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ras_flow.graph_llm.config import GnnConfig, GraphLLMConfig, LoraConfig, Shape
from ras_flow.llms.local.weights import SMOLLM2
from ras_flow.llms.sentence_encoder import MINILM
from ras_flow.support.validation import NonNegative, Positive, Settings, Share, Texts
from ras_flow.training import settings
from ras_flow.training.settings import Schedule, TrainingSettings

Task = Literal["both", "plan", "answer"]
Part = Literal["graph", "lora"]


class DataSettings(Settings):
    """What it learns from.

    Attributes:
        sets: Folders of data sets, each with a ``train.jsonl`` to learn from and a ``dev.jsonl`` to
            watch. A set that is named twice is seen twice.
        most: At most so many training records in all; 0 for no limit.
    """

    sets: Annotated[Texts, Field(min_length=1)]
    most: NonNegative[int] = 0


class MixSettings(Settings):
    """How often a record is seen in an epoch; below 1, the next epoch shows other records.

    Attributes:
        plan: For plans, except those of ``first_subq``.
        first_subq: For plans before the first hop that ask for a search. Most first plans do, and
            their subquery is not used.
        answer: For answers.
        temperature: Above 1, small sources are seen more often and large ones less: a source counts
            with its size to the power of 1 / temperature.
    """

    plan: NonNegative[float] = 1.0
    first_subq: NonNegative[float] = 0.3
    answer: NonNegative[float] = 1.0
    temperature: Positive[float] = 1.0


class ModelSettings(Shape):
    """What is trained.

    Attributes:
        base: A causal language model: a folder, or a name on the hub.
        encoder: The sentence encoder: a folder, or a name.
        target: Tokens of a target at most.
        without: Parts to leave out: ``graph`` (no graph encoder), ``lora`` (train graph encoder and
            projector only).
        task: ``plan`` or ``answer`` trains a model for one task only.
        graphs: ``shuffled`` gives each record the graph of another one, as a control.
        start: A Graph LLM to start from, such as ``local:default`` or ``local:FOLDER``, or the
            checkpoint of a run with the same model, ``local:OUTPUT.run/checkpoint-500``; empty for
            new weights.
    """

    base: str = SMOLLM2
    encoder: str = MINILM
    target: Positive[int] = 300
    without: Annotated[tuple[Part, ...], Field(strict=False)] = ()
    task: Task = "both"
    graphs: Literal["own", "shuffled"] = "own"
    start: str = ""


class OptimizerSettings(settings.OptimizerSettings):
    """How it learns: the shared settings with other defaults, and three more.

    Attributes:
        learning_rate: Of LoRA.
        graph_learning_rate: Of graph encoder and projector, which start from nothing.
        label_weight: How much each token of a plan's label counts in the loss; any other token of
            a target counts 1. A label is one choice among a dozen words, and it alone decides
            where the graph goes next.
        workers: Processes that prepare batches; 0 for the main one only.
    """

    learning_rate: NonNegative[float] = 5e-5
    graph_learning_rate: NonNegative[float] = 5e-5
    schedule: Schedule = "cosine"
    warmup: Share[float] = 0.15
    clip: NonNegative[float] = 0.5
    label_weight: Positive[float] = 1.0
    batch_size: Positive[int] = 2
    accumulation: Positive[int] = 2
    epochs: Positive[float] = 2.0
    workers: NonNegative[int] = 0


class PretrainSettings(Settings):
    """How a new graph encoder first learns, alone, whether a graph suffices.

    This is our extension: the paper trains all parts at once.

    Attributes:
        sets: Data sets whose plans it learns from; empty for ``data.sets``. A graph takes a
            thousandth of the time of a text, so there can be many more. Their questions must be
            split as those of ``data.sets``.
        epochs: Passes over the plans that follow a search; 0 to skip this.
    """

    sets: Texts = ()
    epochs: NonNegative[int] = 0
    learning_rate: NonNegative[float] = 5e-4
    batch_size: Positive[int] = 16


class WatchSettings(Settings):
    """How training is watched and kept.

    Attributes:
        every: Steps between measurements, and between checkpoints.
        records: Records of ``dev`` for the loss, at most.
        generate: Of these, records that the model plans or answers for the other measures.
        patience: Stop after so many measurements without a lower loss; 0 for never.
        keep: Write the weights with the lowest loss on ``dev``, or the last ones. The loss also
            rises if a model learns to say the right thing in other words.
    """

    every: Positive[int] = 500
    records: NonNegative[int] = 500
    generate: NonNegative[int] = 100
    batch_size: Positive[int] = 8
    patience: NonNegative[int] = 0
    keep: Literal["best", "last"] = "best"
    dtype: Literal["float16", "float32"] = "float16"


class TrainingConfig(TrainingSettings):
    """All settings; each attribute is a table of the file."""

    data: DataSettings
    mix: MixSettings = MixSettings()
    model: ModelSettings = ModelSettings()
    gnn: GnnConfig = GnnConfig()
    lora: LoraConfig = LoraConfig()
    pretrain: PretrainSettings = PretrainSettings()
    optimizer: OptimizerSettings = OptimizerSettings()
    watch: WatchSettings = WatchSettings()

    def graph_llm(self, encoder: str, dimension: int) -> GraphLLMConfig:
        """Return what the model is made of."""
        return GraphLLMConfig(
            base=self.model.base,
            encoder=encoder,
            encoder_dimension=dimension,
            gnn=None if "graph" in self.model.without else self.gnn,
            lora=None if "lora" in self.model.without else self.lora,
            **self.model.model_dump(include=set(Shape.model_fields)),
        )
