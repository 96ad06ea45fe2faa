"""What a Graph LLM is made of: plain values that a checkpoint keeps as JSON (paper table 8)."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from ras_flow.llms.local.precision import Precision
from ras_flow.llms.sentence_encoder import same_encoder
from ras_flow.parts.records import AttributedGraph, Reading
from ras_flow.support.validation import NonNegative, Positive, Settings, Share, Texts

FEW_FACTS = 20
"""Facts of a knowledge graph that a Graph LLM reads: as many as the embedded one reads best."""


class GnnConfig(Settings):
    """The graph encoder.

    Attributes:
        kind: ``"transformer"`` (the paper's choice), ``"gat"``, or ``"gcn"``. A graph convolution
            takes no edge features, so it sees links but not relations. ``"gat"`` and ``"gcn"``
            give each node a loop of their own and ignore triples that link an entity to itself.
        hidden: Width of its vectors; rounded down to a multiple of ``heads`` (GCN has no heads).
        layers: Convolutions.
        heads: Attention heads.
        dropout: Share of activations and attention weights dropped in training.
        scope: ``"per_hop"`` encodes each hop's subgraph by itself (appendix D.2); ``"merged"``
            lets messages pass over the union G_Q (eq. 6).
        tokens: ``"one"`` soft token for the whole graph: the mean over the hops, or over all
            nodes if the scope is merged; ``"per_hop"`` one for each hop.
        queries: Make each subquery that found something a node, linked to the entities of its hop
            and to the question. Our extension: the paper's encoder does not see the subqueries.
        place: ``"before"`` puts the soft tokens before the history, as the paper does; ``"after"``
            puts them last, right before the first word that the language model writes, which
            decides on the label; ``"label"`` does so for plans only.
    """

    kind: Literal["transformer", "gat", "gcn"] = "transformer"
    hidden: Positive[int] = 1024
    layers: Positive[int] = 3
    heads: Positive[int] = 8
    dropout: Share[float] = 0.1
    scope: Literal["per_hop", "merged"] = "per_hop"
    tokens: Literal["one", "per_hop"] = "one"
    queries: bool = False
    place: Literal["before", "after", "label"] = "before"

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.hidden < self.heads:
            raise ValueError(f"hidden = {self.hidden} must be at least heads = {self.heads}.")
        return self

    @property
    def width(self) -> int:
        """Length of a graph's vector."""
        return self.hidden if self.kind == "gcn" else self.hidden // self.heads * self.heads

    def count_tokens(self, graph: AttributedGraph | None) -> int:
        """Return how many soft tokens a graph takes: at least one, even if it is empty."""
        hops = len(graph.hops) if graph is not None and self.tokens == "per_hop" else 1
        return max(hops, 1)


class LoraConfig(Settings):
    """The low-rank adapters of the linear layers named ``targets``; ``"all-linear"`` are all.

    Their output is multiplied by alpha / r; ``dropout`` is a share of their inputs, in training.
    """

    r: Positive[int] = 8
    alpha: Positive[int] = 16
    dropout: Share[float] = 0.05
    targets: str | Texts = ("q_proj", "v_proj")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.targets:
            raise ValueError("targets must name at least one linear layer, such as 'q_proj'.")
        return self


class Shape(Settings):
    """The sizes of a Graph LLM, and what it reads in runs that set no number.

    Attributes:
        dtype: Number format of the frozen base, in training and in runs; what is trained is
            float32 in training.
        projector_hidden: Width of the projector's inner layer.
        window: Input tokens at most, soft tokens included (the paper's maximum text length).
        top_k: Passages for each subquery, if it answers.
        max_triples: Triples of each hop: those nearest to the hop's subquery; None for all.
            Training always reads all.
        answer_passages: Passages of each hop that it reads as text beside the triples, if it
            answers. Training reads those that a record has.
        max_hops: Subqueries at most, if it answers.
        min_score: Share of the best score that a passage of a later search needs, if it answers.
    """

    dtype: Precision = "float32"
    projector_hidden: Positive[int] = 2048
    window: Positive[int] = 2500
    top_k: Positive[int] = Reading.top_k
    max_triples: Positive[int | None] = None
    answer_passages: NonNegative[int] = Reading.answer_passages
    max_hops: Positive[int] = Reading.max_hops
    min_score: Share[float] = Reading.min_score


class GraphLLMConfig(Shape):
    """Everything that a Graph LLM is built from.

    Attributes:
        base: The language model: a folder, or a name on the model hub.
        encoder: Identity of the sentence encoder whose vectors the GNN reads.
        encoder_dimension: Their length.
        gnn: The graph encoder; None for a model that reads the history's text only (ablation).
        lora: The adapters; None trains GNN and projector alone (ablation).
    """

    base: str
    encoder: str
    encoder_dimension: Positive[int]
    gnn: GnnConfig | None = GnnConfig()
    lora: LoraConfig | None = LoraConfig()

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.gnn is None and self.lora is None:
            raise ValueError("Without gnn and without lora nothing is left to train.")
        return self

    @property
    def reading(self) -> Reading:
        """How much it reads best."""
        return Reading(
            top_k=self.top_k,
            max_triples=self.max_triples,
            answer_passages=self.answer_passages,
            max_hops=self.max_hops,
            min_score=self.min_score,
            kg_triples=FEW_FACTS,
        )

    @property
    def encoder_name(self) -> str:
        """Name of the sentence encoder, as it can be loaded by."""
        return self.encoder.rpartition("@")[0] or self.encoder

    def reads(self, encoder: str) -> bool:
        """Tell whether a sentence encoder's vectors are those that the GNN reads."""
        return same_encoder(self.encoder, encoder)
