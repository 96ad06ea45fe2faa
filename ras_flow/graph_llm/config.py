"""What a Graph LLM is made of: plain values that a checkpoint keeps as JSON (paper table 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self, get_args

from ras_flow.errors import ConfigurationError
from ras_flow.llms.sentence_encoder import same_encoder
from ras_flow.parts.records import AttributedGraph, Reading
from ras_flow.support.ranges import NonNegative, Positive, Share, check_ranges

GnnKind = Literal["transformer", "gat", "gcn"]
Scope = Literal["per_hop", "merged"]
Tokens = Literal["one", "per_hop"]
Place = Literal["before", "after", "label"]


def _one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ConfigurationError(f"{name} must be one of {', '.join(allowed)}, not {value!r}.")


@dataclass(frozen=True, kw_only=True)
class GnnConfig:
    """The graph encoder.

    Attributes:
        kind: ``"transformer"`` (the paper's choice), ``"gat"``, or ``"gcn"``, which knows who is
            linked to whom but not by which relation: a graph convolution takes no edge features.
            To the last two a triple that links an entity to itself says nothing: each node has a
            loop of theirs instead.
        hidden: Width of its vectors; rounded down to a multiple of ``heads`` (GCN has no heads).
        layers: Convolutions.
        heads: Attention heads.
        dropout: Share of activations and attention weights dropped in training.
        scope: ``"per_hop"`` encodes each hop's subgraph by itself (appendix D.2); ``"merged"``
            lets messages pass over the union G_Q (eq. 6).
        tokens: ``"one"`` soft token for the whole graph: the mean over the hops, or over all
            nodes where the scope is merged; ``"per_hop"`` one for each hop.
        queries: Each subquery that found something is a node too, linked to the entities of its
            hop and to the question. Ours: the paper's encoder does not know what was asked for.
        place: ``"before"`` puts the soft tokens before the history, as the paper does; ``"after"``
            makes them the last that the language model reads, so that the first word it writes,
            which decides on the label, stands right behind them; ``"label"`` does so for plans
            alone, since between a prompt and its answer they only stand in the way.
    """

    kind: GnnKind = "transformer"
    hidden: Positive[int] = 1024
    layers: Positive[int] = 3
    heads: Positive[int] = 8
    dropout: Share[float] = 0.1
    scope: Scope = "per_hop"
    tokens: Tokens = "one"
    queries: bool = False
    place: Place = "before"

    def __post_init__(self) -> None:
        """Check every value."""
        _one_of("kind", self.kind, get_args(GnnKind))
        _one_of("scope", self.scope, get_args(Scope))
        _one_of("tokens", self.tokens, get_args(Tokens))
        _one_of("place", self.place, get_args(Place))
        check_ranges(self)
        if self.hidden < self.heads:
            raise ConfigurationError(
                f"hidden = {self.hidden} must be at least as many as the heads, {self.heads}."
            )

    @property
    def width(self) -> int:
        """Length of a graph's vector."""
        return self.hidden if self.kind == "gcn" else self.hidden // self.heads * self.heads

    def count_tokens(self, graph: AttributedGraph | None) -> int:
        """Return how many soft tokens a graph takes: never none, so that emptiness shows."""
        hops = len(graph.hops) if graph is not None and self.tokens == "per_hop" else 1
        return max(hops, 1)


@dataclass(frozen=True, kw_only=True)
class LoraConfig:
    """The low-rank adapters of the language model.

    Attributes:
        r: Rank.
        alpha: Scale; the adapters' output is multiplied by alpha / r.
        dropout: Share of their inputs dropped in training.
        targets: Names of the linear layers that get one.
    """

    r: Positive[int] = 8
    alpha: Positive[int] = 16
    dropout: Share[float] = 0.05
    targets: tuple[str, ...] = ("q_proj", "v_proj")

    def __post_init__(self) -> None:
        """Check every value."""
        object.__setattr__(self, "targets", tuple(self.targets))
        check_ranges(self)
        if not self.targets:
            raise ConfigurationError("LoRA needs at least one target, such as 'q_proj'.")


@dataclass(frozen=True, kw_only=True)
class GraphLLMConfig:
    """Everything that a Graph LLM is built from.

    Attributes:
        base: The language model: a folder, or a name on the model hub.
        encoder: Identity of the sentence encoder whose vectors the GNN reads.
        encoder_dimension: Their length.
        gnn: The graph encoder; None for a model that reads the history's text only (ablation).
        lora: The adapters; None trains GNN and projector alone (ablation).
        projector_hidden: Width of the projector's inner layer.
        window: Input tokens at most, soft tokens included (the paper's maximum text length).
        top_k: Passages for each subquery where a run does not say, and it is the answerer.
        max_triples: Triples of each hop that it reads where a run does not say: those nearest to
            the hop's subquery. None for all. Training always reads all.
        answer_passages: Passages of each hop that it reads as text beside the triples, where a run
            does not say, and it is the answerer.
    """

    base: str
    encoder: str
    encoder_dimension: Positive[int]
    gnn: GnnConfig | None = GnnConfig()
    lora: LoraConfig | None = LoraConfig()
    projector_hidden: Positive[int] = 2048
    window: Positive[int] = 2500
    top_k: Positive[int] = Reading.top_k
    max_triples: Positive[int | None] = None
    answer_passages: NonNegative[int] = Reading.answer_passages

    def __post_init__(self) -> None:
        """Check every value."""
        check_ranges(self)
        for name in ("base", "encoder"):
            if not isinstance(getattr(self, name), str):
                raise ConfigurationError(f"{name} = {getattr(self, name)!r} must name a model.")
        if self.gnn is None and self.lora is None:
            raise ConfigurationError("Without gnn and without lora nothing is left to train.")

    @property
    def reading(self) -> Reading:
        """How much it reads best."""
        return Reading(
            top_k=self.top_k,
            max_triples=self.max_triples,
            answer_passages=self.answer_passages,
        )

    @property
    def encoder_name(self) -> str:
        """Name of the sentence encoder, as it can be loaded by."""
        return self.encoder.rpartition("@")[0] or self.encoder

    def reads(self, encoder: str) -> bool:
        """Tell whether a sentence encoder's vectors are those that the GNN reads."""
        return same_encoder(self.encoder, encoder)

    def to_mapping(self) -> dict[str, Any]:
        """Return the values as JSON-like data."""
        return asdict(self)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Self:
        """Read values that :meth:`to_mapping` wrote, or a person."""
        parts = {"gnn": GnnConfig, "lora": LoraConfig}
        if not isinstance(values, Mapping):
            raise ConfigurationError(f"{cls.__name__} cannot be made of {values!r}.")
        read = {
            name: _build(parts[name], value) if name in parts and value is not None else value
            for name, value in values.items()
        }
        built: Self = _build(cls, read)
        return built


def _build(kind: Any, values: Any) -> Any:
    known = {field.name for field in fields(kind)}
    if not isinstance(values, Mapping) or not set(values) <= known:
        raise ConfigurationError(
            f"{kind.__name__} takes {', '.join(sorted(known))}; this is no such mapping: {values!r}"
        )
    try:
        return kind(**values)
    except TypeError as error:
        raise ConfigurationError(f"{kind.__name__} cannot be made of {values!r}: {error}") from None
