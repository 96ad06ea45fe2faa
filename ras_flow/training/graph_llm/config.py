"""The settings of a training run, read from TOML; what is not named is as in the paper (D.2, J)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ras_flow.errors import ConfigurationError
from ras_flow.graph_llm.config import GnnConfig, GraphLLMConfig, LoraConfig
from ras_flow.llms.local.weights import SMOLLM2
from ras_flow.llms.sentence_encoder import MINILM
from ras_flow.parts.records import Reading
from ras_flow.support.ranges import NonNegative, Positive, Share, check_ranges
from ras_flow.training.settings import Schedule

Task = Literal["both", "plan", "answer"]
PARTS = ("graph", "lora")


@dataclass(frozen=True)
class DataSettings:
    """What it learns from.

    Attributes:
        sets: Folders that ``ras-flow data`` wrote: ``train.jsonl`` is learnt from, as often as its
            folder is named, and ``dev.jsonl`` is watched.
        most: At most so many training records of all; 0 for no limit.
    """

    sets: tuple[str, ...]
    most: NonNegative[int] = 0


@dataclass(frozen=True)
class MixSettings:
    """How often a record is seen in an epoch; below 1, other records are seen in the next one.

    Attributes:
        plan: Of the plans, but for those of ``first_subq``.
        first_subq: Of plans before the first hop that ask for one: most first plans are, and the
            subquery is not even used.
        answer: Of the answers.
        temperature: Over 1, small sources are seen more often and large ones less: each counts
            with its size to the power of 1 / temperature.
    """

    plan: NonNegative[float] = 1.0
    first_subq: NonNegative[float] = 0.3
    answer: NonNegative[float] = 1.0
    temperature: Positive[float] = 1.0


@dataclass(frozen=True)
class ModelSettings:
    """What is trained.

    Attributes:
        base: A causal language model: a folder, or a name on the hub.
        encoder: The sentence encoder: a folder, or a name.
        projector_hidden: Width of the projector's inner layer.
        window: Input tokens at most.
        top_k: Passages for each subquery in runs of which the trained model is the answerer.
        max_triples: Triples of each hop that the trained model is to read in runs, those nearest to
            its subquery; 0 for all. It learns from all that its records have.
        answer_passages: Passages of each hop that the trained model is to read beside the triples
            in runs that it answers. It learns from those that its records have.
        target: Tokens of a target at most.
        without: Parts that are left out: ``graph`` (no graph encoder), ``lora`` (graph encoder and
            projector alone are trained).
        task: ``plan`` or ``answer`` trains a model for one task alone.
        graphs: ``shuffled`` gives each record another one's graph: what the graph encoder then
            gains is not from the graph.
        start: A Graph LLM whose weights training begins with, such as ``local:default`` or
            ``local:FOLDER``, or a checkpoint of a run, ``local:OUTPUT.run/checkpoint-500``, made
            with the same settings; empty for new weights.
        new_graph: With ``start``, begin with its adapters alone: graph encoder and projector are
            new, and of any settings.
    """

    base: str = SMOLLM2
    encoder: str = MINILM
    projector_hidden: Positive[int] = 2048
    window: Positive[int] = 2500
    top_k: Positive[int] = Reading.top_k
    max_triples: NonNegative[int] = 0
    answer_passages: NonNegative[int] = Reading.answer_passages
    target: Positive[int] = 300
    without: tuple[str, ...] = ()
    task: Task = "both"
    graphs: Literal["own", "shuffled"] = "own"
    start: str = ""
    new_graph: bool = False


@dataclass(frozen=True)
class OptimizerSettings:
    """How it learns.

    Attributes:
        learning_rate: Peak of AdamW's learning rate, for LoRA.
        graph_learning_rate: The same for graph encoder and projector, which start from nothing.
        schedule: How both fall after the warm-up.
        warmup: Share of the steps during which they rise.
        weight_decay: AdamW's; not of biases and norms.
        clip: Norm at which gradients are cut.
        label_weight: How much each token of a plan's label counts in the loss, beside 1 for any
            other token of a target. A label is one choice among a dozen words, and it is the one
            that decides where the graph goes next.
        batch_size: Records that are computed at once; may be changed in a run that was begun, as
            long as batch_size times accumulation stays.
        accumulation: Batches that make a step.
        epochs: Passes through the mix.
        steps: Stop after so many steps, where the epochs have more; 0 for none.
        precision: ``bf16`` computes in mixed precision; ``auto`` does so on a GPU.
        packed: Compute a batch without its padding, and with LoRA added to the base's weights: the
            same loss in a part of the time, on a CPU where the records' lengths differ. Takes a
            base of type Llama and ``lora.dropout = 0``.
        workers: Processes that prepare batches; 0 for none but the main one.
        seed: Decides new weights, the order of the records, which of them ``data.most`` takes, and
            dropout; not what is watched and measured.
    """

    learning_rate: NonNegative[float] = 5e-5
    graph_learning_rate: NonNegative[float] = 5e-5
    schedule: Schedule = "cosine"
    warmup: Share[float] = 0.15
    weight_decay: NonNegative[float] = 0.01
    clip: NonNegative[float] = 0.5
    label_weight: Positive[float] = 1.0
    batch_size: Positive[int] = 2
    accumulation: Positive[int] = 2
    epochs: Positive[float] = 2.0
    steps: NonNegative[int] = 0
    precision: Literal["auto", "bf16", "float32"] = "auto"
    packed: bool = False
    workers: NonNegative[int] = 0
    seed: NonNegative[int] = 7


@dataclass(frozen=True)
class PretrainSettings:
    """How a new graph encoder learns by itself, before all else, whether a graph suffices.

    Ours: the paper trains all parts at once.

    Attributes:
        sets: Data sets whose plans it learns from, if not from those of ``data.sets``: a graph
            takes a thousandth of the time of a text, so there can be many more of them. Their
            questions must be split as there.
        epochs: Passes over the plans after a search; 0 leaves this out.
        learning_rate: AdamW's learning rate.
        batch_size: Graphs of a step.
    """

    sets: tuple[str, ...] = ()
    epochs: NonNegative[int] = 0
    learning_rate: NonNegative[float] = 5e-4
    batch_size: Positive[int] = 16


@dataclass(frozen=True)
class WatchSettings:
    """How training is watched and kept.

    Attributes:
        every: Steps between measurements, and between checkpoints.
        records: Records of ``dev`` for the loss, at most.
        generate: Of these, records that the model plans or answers for the other measures.
        batch_size: Records that are measured at once.
        patience: Stop after so many measurements without a lower loss; 0 for never.
        keep: The weights of the finished folder: those with the lowest loss on ``dev``, or the last
            ones. The loss rises where a model learns to say the right thing in other words.
        dtype: Number format of the weights in the finished folder.
    """

    every: Positive[int] = 500
    records: NonNegative[int] = 500
    generate: NonNegative[int] = 100
    batch_size: Positive[int] = 8
    patience: NonNegative[int] = 0
    keep: Literal["best", "last"] = "best"
    dtype: Literal["float16", "float32"] = "float16"


@dataclass(frozen=True)
class TrainingConfig:
    """All settings; each attribute is a table of the file."""

    data: DataSettings
    mix: MixSettings = MixSettings()
    model: ModelSettings = ModelSettings()
    gnn: GnnConfig = GnnConfig()
    lora: LoraConfig = LoraConfig()
    pretrain: PretrainSettings = PretrainSettings()
    optimizer: OptimizerSettings = OptimizerSettings()
    watch: WatchSettings = WatchSettings()

    def __post_init__(self) -> None:
        """Check what the types do not say."""
        unknown = sorted(set(self.model.without) - set(PARTS))
        if unknown:
            raise ConfigurationError(
                f"model.without: there is no part {unknown[0]!r}, only {', '.join(PARTS)}."
            )
        if not self.data.sets:
            raise ConfigurationError("data.sets: name at least one folder of `ras-flow data`.")
        check_ranges(self)

    def graph_llm(self, encoder: str, dimension: int) -> GraphLLMConfig:
        """Return what the model is made of."""
        return GraphLLMConfig(
            base=self.model.base,
            encoder=encoder,
            encoder_dimension=dimension,
            gnn=None if "graph" in self.model.without else self.gnn,
            lora=None if "lora" in self.model.without else self.lora,
            projector_hidden=self.model.projector_hidden,
            window=self.model.window,
            top_k=self.model.top_k,
            max_triples=self.model.max_triples or None,
            answer_passages=self.model.answer_passages,
        )
